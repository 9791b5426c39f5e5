import { pbkdf2Sync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { type password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { importUsers } from '../support/import-users.js';
import { expectProblem } from '../support/problem.js';

const SECRET_WORDS = 'correct horse battery';
const GERMAN = 'pässwörd für Ada';

// Each hash was created by another program, with the command next to it.
const MADE_ELSEWHERE: [source: string, hash: string, password?: string][] = [
  [
    'Apache 2.4: htpasswd -nbB -C 5 ada "correct horse battery"',
    '$2y$05$b4arMjmQm5Cghbd7RLH8rOmlm8QIxdxETXnBzWzGYMXNsDwA4U8Ae',
  ],
  [
    'PHP 8.2: password_hash("correct horse battery", PASSWORD_BCRYPT, ["cost" => 5])',
    '$2y$05$WMVWHNuiJPhPT5lBWoK7deg13h7BXu./rJ1DP5uqDeSlj5TRmXbba',
  ],
  [
    'PHP 8.2: password_hash("pässwörd für Ada", PASSWORD_BCRYPT, ["cost" => 5])',
    '$2y$05$tF9vEeC3OX0QprfRMD5V..oDgksPPEoQ1/yykdxNPI/Y2EpiHgeWi',
    GERMAN,
  ],
  [
    'libxcrypt, by Perl: crypt("correct horse battery", q($2b$05$abcdefghijklmnopqrstuu))',
    '$2b$05$abcdefghijklmnopqrstuuD3mHdCr44zlIZ.VZCaYRpfQhXMYnEo.',
  ],
  [
    'libxcrypt, by Perl: crypt("correct horse battery", q($2a$05$abcdefghijklmnopqrstuu))',
    '$2a$05$abcdefghijklmnopqrstuuD3mHdCr44zlIZ.VZCaYRpfQhXMYnEo.',
  ],
  [
    'PHP 8.2: password_hash(…, PASSWORD_ARGON2ID, ["memory_cost" => 8192, "time_cost" => 2, "threads" => 1])',
    '$argon2id$v=19$m=8192,t=2,p=1$dC55cm5MSTV4RTFhSVZYUw$aEvqO15m/uNwM61wtrcqEY0D+4Kc3oeptrE+SnAkDyU',
  ],
  [
    'argon2 0~20171227: printf %s "correct horse battery" | argon2 somesalt1234 -id -t 2 -m 12 -p 1 -e',
    '$argon2id$v=19$m=4096,t=2,p=1$c29tZXNhbHQxMjM0$IjAUGkmGew6T+Gyt2iD231PIJ+tYlGWWQbdw8w5wnRs',
  ],
  [
    'passlib 1.7.4: scrypt.using(rounds=10).hash("correct horse battery")',
    '$scrypt$ln=10,r=8,p=1$fm/NmdN6T6l1jtE6x/i/dw$MT4LUld36HOyrXxVfjMf6mllKx827gyOdWE2UuI1TKk',
  ],
  [
    'passlib 1.7.4: pbkdf2_sha256.using(rounds=2000).hash("correct horse battery")',
    '$pbkdf2-sha256$2000$POe8936PkbIWYqzV2ntPaQ$psVgt5KCnLTaMm6.VXs1nUkFlBJhypi3HJNjddyOQEg',
  ],
  [
    'passlib 1.7.4: pbkdf2_sha512.using(rounds=2000).hash("correct horse battery")',
    '$pbkdf2-sha512$2000$MYYQIoRQaq1VSklJKQWglA$u8IatgiSuDWSrnjQGxkPyhT8NAO0UVaRhOSsBCLO.tcOhzN16vsJYVEKbpHtT7CHutOdNwIPtpo4japlB68tHw',
  ],
  [
    'passlib 1.7.4: pbkdf2_sha1.using(rounds=2000).hash("correct horse battery")',
    '$pbkdf2$2000$3DsHYIwx5jzHOKe0FuJc6w$0eEwH1SDGvrB5MAruyhHS3BLeuk',
  ],
  [
    'Django 3.2: PBKDF2PasswordHasher().encode("correct horse battery", "seasalt2", 2000)',
    'pbkdf2_sha256$2000$seasalt2$wcSZolrEMZG4jNVdGjqXoLKFGOLsQzh7EYiF8JwycMw=',
  ],
  [
    'Django 3.2: PBKDF2SHA1PasswordHasher().encode("correct horse battery", "seasalt2", 2000)',
    'pbkdf2_sha1$2000$seasalt2$eRlzVMCGnF37eLvedESb61dDewE=',
  ],
  [
    'Django 5.2.17: ScryptPasswordHasher().encode("correct horse battery", "seasalt2"), work_factor 2**10',
    'scrypt$1024$seasalt2$8$5$ohqL+uoqu6N+qMVGTjus5uuD0t3OS5ywG+eqAKEtgvHzQOisPnvQr4lrtdRpgj3usFdewYD70z24FIwQY4ApMw==',
  ],
  [
    'Django 5.2.17: Argon2PasswordHasher().encode("correct horse battery", "seasalt2"), memory_cost 1024, time_cost 1',
    'argon2$argon2id$v=19$m=1024,t=1,p=1$c2Vhc2FsdDI$OGFHIkWjBR8Wcsnn2rVRaWKHomyVVh5vzc//YXrKpK4',
  ],
  [
    'Django 5.2.17: BCryptSHA256PasswordHasher().encode("correct horse battery", salt), rounds 5',
    'bcrypt_sha256$$2b$05$1peoBGuhyeH1Gb421bpuBODNfZXS.FWU6xyPNPuvw9AHiJNdYloai',
  ],
  [
    'Django 5.2.17: BCryptPasswordHasher().encode("correct horse battery", salt), rounds 5',
    'bcrypt$$2b$05$mP0PuT.8JIgTM9phXAxbBOak6nqk04B8D2XuC.V4MWBs88GGCl2oC',
  ],
  [
    'better-auth 1.7.25: hashPassword("correct horse battery")',
    'f24883461f9624221706414d540723cb:9799655f941b81dc231a0188708f7648e2e8d3f014dc5086e855d3ca01aea68699e1b0682442140a032159a7d9faf9b32f0e1244e0b75ebf776ae2466545c63d',
  ],
  [
    'better-auth 1.7.25: hashPassword("Ｃａｆé au lait")',
    '7da3ad54b8eb82e8f3e95b57f0d17354:4009f593d53f13c1ffe8683ccd77a40b8020498b0aab446f0fa5690cea4649b2c24a6d932890b42395f399a9373c1de113c9b616affd643a0b0025268a03de72',
    'Café au lait',
  ],
  [
    'Lucia 3.2.2: new Scrypt().hash("correct horse battery")',
    'e73f7e60ad406aa02fb12f60f9c55ae7:e96628a686d67ab65b482b77c8743923489b5dfe0d643f476f9bf4d99e3fa0b5a88b7bf7dc8923930fd7a057d21c0f28a373bd25e60a87e463883cbf7864e9d8',
  ],
  [
    'Lucia 2.7.7: generateLuciaPasswordHash("correct horse battery")',
    's2:ovf4wsfe27c9h4vm:943580004f9c741bf62e530aebd1d9da07e48f55c599c9c933076836f485755a567ac7b29cced37fee92e6a66c5513c2963021caa31275fee5c58e0b16b1c42a',
  ],
  [
    'the format of Lucia 1, as validateLuciaPasswordHash of Lucia 2.7.7 verifies it',
    'abcdefghij012345:0fefd474398b9b83750b65e5143181b72df57c10d988189ebb2800e35771e1ebede98d5be7ded20cce08385d728a70ac054def6d5f1e1565f7e48acd86cf1a73',
  ],
];

let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

let people = 0;
const moveIn = async (passwordHash: string) => {
  const email = `person-${++people}@example.com`;
  expect(await importUsers(app.auth, [{ email, passwordHash }])).toMatchObject({
    users: [{ ref: 0 }],
    skipped: [],
  });
  return email;
};
const signIn = (credential: string, given: string) =>
  app.http.post('/auth/signin/credential').send({ credential, password: given });
const hashOf = async (email: string) =>
  (
    await rows<{ password_hash: string }>(
      app.database,
      'SELECT password_hash FROM users WHERE email = :email',
      {
        email,
      },
    )
  )[0]?.password_hash;

describe('an imported hash', () => {
  test.each(MADE_ELSEWHERE)(
    'is verified and then replaced at the first sign-in (%s)',
    async (_source, stored, itsPassword = SECRET_WORDS) => {
      const email = await moveIn(stored);
      for (const wrong of [`${itsPassword} `, itsPassword.toUpperCase(), 'x', stored])
        expectProblem(await signIn(email, wrong), 401, 'invalid_credentials');
      // A wrong password does not change the hash.
      expect(await hashOf(email)).toBe(stored);
      await signIn(email, itsPassword).expect(200);
      const ours = await hashOf(email);
      expect(ours).toMatch(/^\$bcrypt-hmac-sha384\$2b\$04\$/);
      await signIn(email, itsPassword).expect(200);
      expect(await hashOf(email)).toBe(ours);
      expectProblem(await signIn(email, `${itsPassword} `), 401, 'invalid_credentials');
    },
  );

  test('may have up to 1024 characters', async () => {
    const made = (length: number) => {
      const salt = 's'.repeat(length - 'pbkdf2_sha256$2000$'.length - 1 - 44);
      return `pbkdf2_sha256$2000$${salt}$${pbkdf2Sync(SECRET_WORDS, salt, 2000, 32, 'sha256').toString('base64')}`;
    };
    const email = await moveIn(made(1024));
    expect(await hashOf(email)).toHaveLength(1024);
    await signIn(email, SECRET_WORDS).expect(200);
    expect(
      await importUsers(app.auth, [{ email: 'long@example.com', passwordHash: made(1025) }]),
    ).toMatchObject({ users: [], skipped: [{ code: 'hash_too_long' }] });
  });

  test.each([
    ['plain text', SECRET_WORDS],
    ['MD5', '5f4dcc3b5aa765d61d8327deb882cf99'],
    ['argon2i instead of argon2id', '$argon2i$v=19$m=4096,t=2,p=1$c29tZXNhbHQ$IjAUGkmGew6T+Gyt2iD231'],
    ['PBKDF2 with a hash of a few bytes', 'pbkdf2_sha256$2000$salt$AAAA'],
    ['PBKDF2 with an empty hash', '$pbkdf2-sha256$2000$c2FsdA$A'],
    ['scrypt with an empty hash', '$scrypt$ln=10,r=8,p=1$fm/NmdN6T6l1jtE6x/i/dw$A'],
    [
      'scrypt with more rounds than its blocks allow',
      '$scrypt$ln=16,r=1,p=1$fm/NmdN6T6l1jtE6x/i/dw$MT4LUld36HOyrXxVfjMf6g',
    ],
    ['scrypt without memory', '$scrypt$ln=0,r=0,p=0$fm/NmdN6T6l1jtE6x/i/dw$MT4LUld36HOyrXxVfjMf6g'],
  ])('is skipped by the import: %s', async (_what, passwordHash) => {
    const email = 'refused@example.com';
    expect(await importUsers(app.auth, [{ email, passwordHash }])).toEqual({
      users: [],
      skipped: [{ ref: 0, code: 'unknown_hash', detail: expect.stringContaining('in a supported format') }],
    });
  });

  test.each([
    [
      'argon2id that needs 4 GiB',
      '$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHQxMjM0$IjAUGkmGew6T+Gyt2iD231PI',
    ],
    [
      'argon2id that fills 16 GiB',
      '$argon2id$v=19$m=1048576,t=16,p=1$c29tZXNhbHQxMjM0$IjAUGkmGew6T+Gyt2iD231PI',
    ],
    ['scrypt that needs 8 GiB', '$scrypt$ln=23,r=8,p=1$fm/NmdN6T6l1jtE6x/i/dw$MT4LUld36HOyrXxVfjMf6g'],
    [
      'scrypt that needs 1 GiB for its blocks',
      '$scrypt$ln=1,r=8,p=1000000$fm/NmdN6T6l1jtE6x/i/dw$MT4LUld36HOyrXxVfjMf6g',
    ],
    ['scrypt that fills 8 GiB', '$scrypt$ln=19,r=8,p=16$fm/NmdN6T6l1jtE6x/i/dw$MT4LUld36HOyrXxVfjMf6g'],
    ['bcrypt that takes an hour', `$2b$24$${'.'.repeat(53)}`],
    ['PBKDF2 with a billion iterations', `pbkdf2_sha256$1000000000$salt$${'A'.repeat(43)}=`],
    ['PBKDF2 whose iterations run for each of 22 blocks', `$pbkdf2-sha256$1000000$c2FsdA$${'A'.repeat(920)}`],
  ])('is skipped by the import because of its cost, and never verified: %s', async (_what, passwordHash) => {
    const email = 'refused@example.com';
    expect(await importUsers(app.auth, [{ email, passwordHash }])).toEqual({
      users: [],
      skipped: [{ ref: 0, code: 'hash_too_costly', detail: expect.stringContaining('cost') }],
    });
    const other = await moveIn('pbkdf2_sha1$2000$seasalt2$eRlzVMCGnF37eLvedESb61dDewE=');
    await app.auth.models.User.update({ passwordHash } as never, { where: { email: other } });
    expectProblem(await signIn(other, SECRET_WORDS), 401, 'invalid_credentials');
  });

  test.each([
    ['one that costs more than new ones', 10],
    ['one that costs as little as new ones', 4],
  ])('takes as long to fail as an unknown account, in a new process too: %s', async (_what, cost) => {
    const email = await moveIn(await bcrypt.hash(SECRET_WORDS, cost));
    // What it has learned is not shared with another Auth.
    const restarted = await startApp({
      config: async () => ({ database: app.database.url }),
    });
    const shortest = async (credential: string) => {
      const times = [];
      for (let round = 0; round < 4; round++) {
        const started = performance.now();
        await restarted.http
          .post('/auth/signin/credential')
          .send({ credential, password: 'wrong' })
          .expect(401);
        times.push(performance.now() - started);
      }
      return Math.min(...times);
    };
    // The limit is generous because other specs may run on the same machine: a cost of 10 takes 64 times as long as 4.
    const unknown = await shortest('nobody@example.com');
    expect(unknown / (await shortest(email))).toBeGreaterThan(0.1);
    await restarted.stop();
  });

  test.each([
    [
      'argon2id with invalid parameters',
      '$argon2id$v=19$m=1,t=0,p=0$c29tZXNhbHQxMjM0$IjAUGkmGew6T+Gyt2iD231PI',
    ],
    [
      'scrypt with many small blocks',
      '$scrypt$ln=1,r=1,p=100000$fm/NmdN6T6l1jtE6x/i/dw$MT4LUld36HOyrXxVfjMf6g',
    ],
    [
      'scrypt with more rounds than its blocks allow',
      '$scrypt$ln=17,r=1,p=1$fm/NmdN6T6l1jtE6x/i/dw$MT4LUld36HOyrXxVfjMf6g',
    ],
    ['scrypt with invalid parameters', '$scrypt$ln=0,r=1,p=1$fm/NmdN6T6l1jtE6x/i/dw$MT4LUld36HOyrXxVfjMf6g'],
  ])('never matches and causes no error if it is invalid: %s', async (_what, passwordHash) => {
    const email = await moveIn('pbkdf2_sha1$2000$seasalt2$eRlzVMCGnF37eLvedESb61dDewE=');
    await app.auth.models.User.update({ passwordHash }, { where: { email } });
    expectProblem(await signIn(email, SECRET_WORDS), 401, 'invalid_credentials');
  });
});
