import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AuthEvents, createAuth } from '../../../../lib/index.js';
import { ada, password, SECRET, type SpecApp, sessionCookie, startApp } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { expectProblem } from '../../../support/problem.js';
import { settled } from '../../../support/sessions.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp({ plugins: [password({ username: true })] });
});
afterAll(() => app.stop());
beforeEach(async () => void (await rows(app.database, 'DELETE FROM users')));

const signUp = (body: object) => app.http.post('/auth/signup/credential').send(body);
const signIn = (credential: string, password: string) =>
  app.http.post('/auth/signin/credential').send({ credential, password });
const users = () =>
  rows<{ id: string; email: string; username: string | null; password_hash: string }>(
    app.database,
    'SELECT id, email, username, password_hash FROM users',
  );

describe('POST /signup/credential', () => {
  test('returns the user and creates no session', async () => {
    const events: AuthEvents['user.created'][] = [];
    const off = app.auth.on('user.created', (event) => events.push(event));
    const answer = await signUp({ ...ada, email: ' Ada@EXAMPLE.com ', username: 'Ada.L-1' })
      .set('user-agent', 'a browser')
      .expect(201);
    expect(answer.body).toEqual({
      user: {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        email: 'ada@example.com',
        username: 'ada.l-1',
        username_display: 'Ada.L-1',
        email_verified_at: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: answer.body.user.created_at,
      },
    });
    expect(Math.abs(Date.parse(answer.body.user.created_at) - Date.now())).toBeLessThan(5000);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(await rows(app.database, 'SELECT id FROM sessions')).toEqual([]);
    const [row] = await users();
    expect(row?.password_hash).toMatch(/^\$bcrypt-hmac-sha384\$2b\$04\$/);
    await settled(app.auth);
    expect(events).toEqual([{ userId: answer.body.user.id, ip: '127.0.0.1', userAgent: 'a browser' }]);
    off();
  });

  test('rejects a username if usernames are off, and returns none', async () => {
    const plain = await startApp({ plugins: [password()] });
    const refused = await plain.http.post('/auth/signup/credential').send({ ...ada, username: 'ada' });
    expectProblem(refused, 422, 'validation_failed');
    const { body } = await plain.http.post('/auth/signup/credential').send(ada).expect(201);
    expect(Object.keys(body.user)).toEqual(['id', 'email', 'email_verified_at', 'created_at', 'updated_at']);
    await expect(
      plain.auth.credential.signUp({ ...ada, email: 'b@example.com', username: 'b' }),
    ).rejects.toMatchObject({
      code: 'validation_failed',
    });
    await plain.http.post('/auth/usernames/check').send({ username: 'ada' }).expect(404);
    await plain.stop();
  });

  test('creates a session with signInOnSignUp', async () => {
    const auto = await startApp({ plugins: [password({ signInOnSignUp: true })] });
    const browser = auto.browser();
    const answer = await browser.post('/auth/signup/credential').send(ada).expect(201);
    expect(sessionCookie(answer)?.attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Lax']);
    const me = await browser.get('/auth/me').expect(200);
    expect(me.body).toEqual(answer.body);
    const failed = await browser.post('/auth/signup/credential').send(ada);
    expectProblem(failed, 409, 'email_taken');
    expect(failed.headers['set-cookie']).toBeUndefined();
    await browser.get('/auth/me').expect(200);
    await auto.stop();
  });

  test.each([
    ['ada@example.com', 'ADA@EXAMPLE.COM'],
    ['ada@bücher.example', 'Ada@xn--bcher-kva.example'],
    ['ada@bücher.example', 'ada@BÜCHER.example'],
    ['ada@example.com', '\u00a0ada@ｅｘａｍｐｌｅ。com\t'],
  ])('treats %s and %s as the same email', async (first, second) => {
    await signUp({ ...ada, email: first }).expect(201);
    expectProblem(await signUp({ ...ada, email: second }), 409, 'email_taken');
    expect(await users()).toHaveLength(1);
    expect((await signIn(second, ada.password)).status).toBe(200);
  });

  test('treats different emails as different, regardless of the database’s collation', async () => {
    const emails = [
      'ada@example.com',
      'ada+x@example.com',
      'a.da@example.com',
      'ada@faß.example',
      'ada@fass.example',
      'ada@exämple.com',
      'ada@example.co',
    ];
    for (const email of emails) await signUp({ ...ada, email }).expect(201);
    expect(await users()).toHaveLength(emails.length);
  });

  test('treats usernames as case-insensitive, and reports a taken email before a taken username', async () => {
    await signUp({ ...ada, username: 'ada_l' }).expect(201);
    expectProblem(await signUp({ ...ada, email: 'b@example.com', username: 'ADA_L' }), 409, 'username_taken');
    expectProblem(await signUp({ ...ada, username: 'ADA_L' }), 409, 'email_taken');
    expectProblem(await signUp({ ...ada, username: 'another' }), 409, 'email_taken');
    await signUp({ ...ada, email: 'c@example.com', username: 'ada-l' }).expect(201);
  });

  test.each([
    'ab',
    'a'.repeat(31),
    'ada l',
    'ada@example.com',
    'аda',
    'ⓐda',
    'ada\u200b',
    'Kelvin\u212a',
    'ada/l',
    'ada%',
    'ﬁve',
    ' ada',
  ])('rejects the username %j', async (username) => {
    const { errors } = expectProblem(await signUp({ ...ada, username }), 422, 'validation_failed');
    expect(errors).toMatchObject([{ pointer: '/username', code: 'invalid_username' }]);
    expectProblem(await app.http.post('/auth/usernames/check').send({ username }), 422, 'validation_failed');
  });

  test('reports everything that is wrong in one response', async () => {
    const answer = await signUp({ email: 'nobody', username: '!!', password: 'short' });
    const { errors } = expectProblem(answer, 422, 'validation_failed');
    expect(errors?.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/email', 'invalid_email'],
      ['/username', 'invalid_username'],
      ['/password', 'too_short'],
    ]);
    expect(answer.text).not.toContain('"short"');
  });

  test('creates one user for twenty concurrent sign-ups, and rejects the others with 409', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => signUp({ ...ada, username: 'ada' })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 201) expectProblem(answer, 409, 'email_taken');
    expect(await users()).toHaveLength(1);
  });

  test('creates one user for twenty concurrent sign-ups with one username in two processes', async () => {
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      plugins: [password({ username: true })],
    });
    const made = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? other : app.auth).credential.signUp({
          email: `${index}@example.com`,
          password: ada.password,
          username: 'One.Name',
        }),
      ),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const it of made)
      if (it.status === 'rejected') expect(it.reason).toMatchObject({ status: 409, code: 'username_taken' });
    expect(await users()).toHaveLength(1);
    await other.close();
  });
});

describe('the password', () => {
  const fault = async (password: string, more = {}) => {
    const answer = await signUp({ ...ada, ...more, password });
    if (answer.status === 201) return null;
    return expectProblem(answer, 422, 'validation_failed').errors?.[0]?.code;
  };

  test.each([
    ['seven characters', 'sevench', 'too_short'],
    ['seven emoji', '😀'.repeat(7), 'too_short'],
    ['seven after normalization', 'é'.normalize('NFD').repeat(7), 'too_short'],
    ['257 characters', `${'ab'.repeat(128)}c`, 'too_long'],
    ['a common password', 'password1', 'password_too_common'],
    ['a common password in mixed case', 'PassWord1', 'password_too_common'],
    ['the email', 'Ada@Example.com', 'password_is_identifier'],
    ['the username', 'Ada_Lovelace', 'password_is_identifier'],
  ])('is rejected: %s', async (_name, password, code) => {
    expect(await fault(password, { username: 'ada_lovelace' })).toBe(code);
    expect(await users()).toEqual([]);
  });

  test.each([
    ['eight characters', 'qzxwvkjh'],
    ['eight emoji', '🐙🦑🦐🦞🦀🐡🐠🐟'],
    ['256 characters', `${'x9 '.repeat(85)}!`],
    ['256 emoji', '🐙'.repeat(256)],
    ['256 after normalization', 'é'.normalize('NFD').repeat(256)],
    ['spaces around it', '  lots of space  '],
    ['control characters', 'a\tb\nc\u0007d\u007fe'],
    ['no ASCII characters', 'пароль из слов'],
  ])('is accepted, and every character counts: %s', async (_name, password) => {
    await signUp({ ...ada, password }).expect(201);
    expect((await signIn(ada.email, password)).status).toBe(200);
    const almost = [
      [...password].slice(0, -1).join(''),
      `${password} `,
      password.toUpperCase(),
      password.trim(),
    ];
    for (const other of almost)
      if (other !== password) expect((await signIn(ada.email, other)).status).toBe(401);
  });

  test('is not truncated after 72 bytes', async () => {
    const start = 'the same seventy-two bytes '.repeat(4).slice(0, 72);
    await signUp({ ...ada, password: `${start}one` }).expect(201);
    expect((await signIn(ada.email, `${start}two`)).status).toBe(401);
    expect((await signIn(ada.email, start)).status).toBe(401);
    expect((await signIn(ada.email, `${start}one`)).status).toBe(200);
  });

  test('can be written with composed or decomposed accents', async () => {
    await signUp({ ...ada, password: 'crème brûlée'.normalize('NFD') }).expect(201);
    expect((await signIn(ada.email, 'crème brûlée'.normalize('NFC'))).status).toBe(200);
    expect((await signIn(ada.email, 'creme brulee')).status).toBe(401);
  });
});
