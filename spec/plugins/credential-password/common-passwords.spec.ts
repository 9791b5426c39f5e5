import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, type password, type SpecApp, startApp } from '../../support/app.js';
import { expectProblem } from '../../support/problem.js';

/** The most common passwords with 8 or more characters, according to leaked lists and password spraying. */
const COMMON = `
  12345678 123456789 1234567890 12345678910 123456789a 1234567891 123456789123 0123456789 012345678 01234567
  87654321 987654321 9876543210 0987654321 98765432 876543210 00000000 000000000 0000000000 11111111 111111111
  1111111111 22222222 222222222 33333333 44444444 55555555 555555555 66666666 666666666 77777777 777777777
  7777777777 88888888 888888888 8888888888 99999999 999999999 aaaaaaaa aaaaaaaaaa xxxxxxxx zzzzzzzz qqqqqqqq
  12121212 1212121212 123123123 12341234 123412341234 321321321 456456456 789789789 147147147 13131313 10101010
  101010101 20202020 21212121 23232323 69696969 52525252 12312312 123321123 1234554321 12344321 11223344
  1122334455 112233445566 11112222 11001100 00112233 147258369 147852369 159753159 159357159 963852741 741852963
  789456123 321654987 123654789 987654123 123456654321 0123456789a 1234qwer 1234qwerasdf 1234abcd abcd1234
  abcdefgh abcdefghi abcdefghij hgfedcba abcabcabc abc12345 abc123456 abc123abc abcd12345 a1234567 a12345678
  a123456789 aa123456 aa12345678 q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx
  1qaz2wsx3edc 1qazxsw2 1qaz@wsx qazwsxedc qazwsx123 zaq12wsx zaq1zaq1 !qaz2wsx qwer1234 qwerasdf qwerty12
  qwerty123 qwerty1234 qwerty12345 qwerty123456 qwertyui qwertyuiop qwertyqwerty qwertzui qwertzuiop azertyuiop
  qweasdzxc qweqweqwe qwe123qwe qweasd123 asdfghjk asdfghjkl asdfasdf asdf1234 asdfqwer zxcvbnm1 zxcvbnm123
  zxcvbnm, zxczxczxc 123qweasd 123qwe123 123456qwerty 12345qwert 123456abc 123abc123 1a2b3c4d password
  password1 password12 password123 password1234 password12345 password! password1! password01
  password2024 passw0rd passw0rd1 passw0rd! p@ssword p@ssw0rd p@ssw0rd1 p@$$w0rd pa$$word pa$$w0rd
  p4ssw0rd passpass passwordpassword passwort passwort1 mypassword newpassword nopassword motdepasse
  contraseña admin123 admin1234 admin12345 adminadmin administrator root1234 rootroot toor1234 test1234 test12345
  test123456 testtest testing123 guest123 guest1234 user1234 login123 welcome1 welcome12 welcome123 
  w3lcome123 welcome2023 letmein1 letmein123 letmein! changeme changeme1 changeme123 changeit default1 secret123
     temp1234 temppass iloveyou iloveyou1 iloveyou2 iloveyou! il0veyou sunshine sunshine1 princess princess1
  football football1 baseball baseball1 basketball superman superman1 batman123 starwars trustno1 whatever
  whatever1 computer computer1 internet michelle jennifer jessica1 michael1 charlie1 jordan23 michael123 monkey123
  dragon123 dragon12 shadow123 master123 killer123 hunter123 liverpool chelsea1 arsenal1 pokemon123 naruto123
  mustang1 corvette midnight maverick samantha victoria danielle elizabeth alexander butterfly blink182 fuckyou1
  fuckyou2 asshole1 hello123 hello1234 hello12345 google123 samsung1 facebook linkedin myspace1 spring2024 summer2023
   autumn2022 winter2023 september2023 january1 december25 monday123 пароль123 йцукенгш
  йцукен123 qwerty!@# !@#$%^&* !@#$%^&*() ******** ........ !!!!!!!!
`
  .split(/\s+/)
  .filter(Boolean);

/** Variants of common passwords, as people write them. */
const DRESSED = [
  'PASSWORD',
  'P@ssword',
  'P@$$W0RD',
  'Adm1n1strat0r',
  '1l0vey0u',
  '5un5h1n3',
  'l3tm31n1',
  'Summer2024',
  ' password',
  '12345678 ',
  'ｐａｓｓｗｏｒｄ',
  '１２３４５６７８',
  'абвгдежз',
  'αβγδεζηθ',
  ' aaaaaaaa',
];

/** Passwords that nobody tries first. */
const FAIR = [
  'é'.repeat(8),
  '密'.repeat(8),
  'a'.repeat(73),
  'an analytical engine',
  'a difference engine',
  'correct horse battery staple',
  'correct-horse-battery-staple-1',
  'correcthorsebatterystaple',
  'Tr0ub4dor&3x!',
  'Tr0ub4dour&3',
  'a wrong password 17',
  'another password',
  'my password is long',
  'the password of 1984 is here',
  'monkey dragon sunshine',
  'winter is coming 2024',
  'Sunshine over Lisbon 99',
  'admin of the lighthouse',
  'password-manager-made-this',
  'eavesdropping all day',
  'purple monkey dishwasher',
  'I had 3 eggs for breakfast',
  'aaaaaaab is not enough?',
  'abcdefgh plus something',
  'gruß an die ganze familie',
  'пять ёжиков под луной',
  'коричневая лиса',
  'ο γάτος κοιμάται εδώ',
  '正しい馬の電池ホチキス',
  '我家的猫喜欢下雨天',
  '올바른 말 배터리 스테이플',
  'سماء زرقاء فوق البحر',
  'חתול על הגג בלילה',
  'पीला सूरज नीला आसमान',
  '🐈🐕🦊🐻🐼🐨🐯🦁',
  'umbrella-93',
  'longpassword-7',
  '😀'.repeat(8),
  'naïve café señor',
  'xK9#mQ2$vL7!',
  'kq3vz8wp',
  'Zj4-tR9x',
  '7hG_2kLp',
  'b8d1f6a3',
  '83920174',
  '20485937165',
  '    secret    garden',
  'x'.repeat(255).concat('y'),
  'ab'.repeat(64),
];

let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

let people = 0;
const signUp = (given: string) =>
  app.http.post('/auth/signup/credential').send({ email: `person-${++people}@example.org`, password: given });

describe('a common password', () => {
  test('is rejected in every spelling', async () => {
    const taken: string[] = [];
    for (const given of [...COMMON, ...COMMON.map((common) => common.toUpperCase()), ...DRESSED]) {
      const answer = await signUp(given);
      if (answer.body.errors?.[0]?.code !== 'password_too_common') taken.push(given);
    }
    expect(COMMON.length).toBeGreaterThan(200);
    expect(taken).toEqual([]);
  }, 180_000);

  test('is also rejected when the password is changed', async () => {
    await app.auth.credential.signUp(ada);
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    const answer = await browser
      .post('/auth/passwords/change')
      .send({ current_password: ada.password, new_password: 'admin1234' });
    expect(expectProblem(answer, 422, 'validation_failed').errors).toMatchObject([
      { pointer: '/new_password', code: 'password_too_common' },
    ]);
  });
});

describe('an uncommon password', () => {
  test.each(FAIR)('such as %j is accepted', async (given) => {
    await signUp(given).expect(201);
  });

  test('from a password manager is never rejected', async () => {
    for (let round = 0; round < 100; round++) {
      await signUp(randomBytes(9).toString('base64url')).expect(201);
      await signUp(randomBytes(5).toString('hex')).expect(201);
    }
  }, 180_000);
});
