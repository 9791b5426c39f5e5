import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ada, password } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { expectProblem } from '../../support/problem.js';

let app: MailApp<readonly [ReturnType<typeof password>]>;

const signUp = (body: object = ada) => app.http.post('/auth/signup/credential').send(body);
const signIn = (credential = ada.email, given = ada.password) =>
  app.http.post('/auth/signin/credential').send({ credential, password: given });

describe('requireVerifiedEmail', () => {
  beforeEach(async () => {
    app = await startMailApp({ plugins: [password({ requireVerifiedEmail: true })] });
  });
  afterEach(() => app.stop());

  test('a sign-in needs the proof, and mails a link to get it', async () => {
    const first = await app.mailOf(() => signUp().expect(201));
    const again = await app.mailOf(async () => {
      const answer = await signIn();
      expectProblem(answer, 403, 'email_not_verified');
      expect(answer.headers['set-cookie']).toBeUndefined();
    });
    expect(again).toMatchObject({ kind: 'verify-email', to: ada.email });
    expect(again.token).not.toBe(first.token);
    await app.http
      .post('/auth/verify-email')
      .send({ token: again.token, password: ada.password })
      .expect(200);
    await app.noMailOf(() => signIn().expect(200));
  });

  test('without the password, nobody learns that the email is not verified, and no mail goes', async () => {
    await app.mailOf(() => signUp());
    await app.noMailOf(async () => {
      const [wrong, unknown] = [
        await signIn(ada.email, 'a wrong password'),
        await signIn('nobody@example.com'),
      ];
      expectProblem(wrong, 401, 'invalid_credentials');
      expect(wrong.text).toBe(unknown.text);
    });
  });

  test('a reset proves it too', async () => {
    await app.mailOf(() => signUp());
    const { token } = await app.mailOf(() =>
      app.http.post('/auth/passwords/request-reset').send({ email: ada.email }),
    );
    await app.http.post('/auth/passwords/reset').send({ token, new_password: ada.password }).expect(204);
    await signIn().expect(200);
  });

  test('too many mails are no other answer', async () => {
    await app.stop();
    app = await startMailApp({
      plugins: [password({ requireVerifiedEmail: true })],
      config: { rateLimit: { signIn: false } },
    });
    await app.mailOf(() => signUp());
    for (let index = 0; index < 6; index++) expectProblem(await signIn(), 403, 'email_not_verified');
    // One of the sign-up, three of the sign-ins.
    for (let round = 0; app.mails.length < 4 && round < 50; round++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(app.mails).toHaveLength(4);
  });
});

describe('concealExistingEmails', () => {
  beforeAll(async () => {
    app = await startMailApp({
      plugins: [password({ concealExistingEmails: true, username: true, requireVerifiedEmail: true })],
    });
    await app.mailOf(() => signUp({ ...ada, username: 'ada' }).expect(202));
  });
  afterAll(() => app.stop());

  const look = ({ status, text, headers: { date, ...headers } }: Awaited<ReturnType<typeof signUp>>) => ({
    status,
    text,
    headers,
  });

  test('a sign-up looks the same whether the email has an account', async () => {
    let known: unknown;
    const toKnown = await app.mailOf(async () => {
      known = look(await signUp({ ...ada, password: 'another password' }));
    });
    let unknown: unknown;
    const toUnknown = await app.mailOf(async () => {
      unknown = look(await signUp({ email: 'new@example.com', password: ada.password }));
    });
    expect(known).toEqual(unknown);
    expect(known).toMatchObject({ status: 202, text: '' });
    // What came of it is only in the mailbox: its owner can go on.
    expect(toKnown).toMatchObject({ kind: 'reset-password', to: ada.email });
    expect(toUnknown).toMatchObject({ kind: 'verify-email', to: 'new@example.com' });
    // The password of the account that there was is as it was.
    expectProblem(await signIn(ada.email, 'another password'), 401, 'invalid_credentials');
  });

  test('nor does a username tell', async () => {
    const refusals = [];
    for (const email of [ada.email, 'fresh@example.com']) {
      const answer = await signUp({ email, password: ada.password, username: 'ADA' });
      expectProblem(answer, 409, 'username_taken');
      refusals.push(look(answer));
    }
    expect(refusals[0]).toEqual(refusals[1]);
    const answers = [
      look(await signUp({ ...ada, username: 'free_1' })),
      look(await signUp({ email: 'fresh@example.com', password: ada.password, username: 'free_2' })),
    ];
    expect(answers[0]).toEqual(answers[1]);
  });

  test('nor does what is wrong with the rest', async () => {
    for (const bad of [
      { password: 'short' },
      { password: 'password1' },
      { username: 'x' },
      { remember: 1 },
    ]) {
      const answers = [];
      for (const email of [ada.email, 'fresher@example.com'])
        answers.push(look(await signUp({ email, password: ada.password, ...bad })));
      expect(answers[0]).toMatchObject({ status: 422 });
      expect(answers[0]).toEqual(answers[1]);
    }
  });

  test('however often, and of many at once', async () => {
    const email = 'many@example.com';
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => signUp({ email, password: ada.password })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202));
    const [{ n } = { n: 0 }] = await rows<{ n: number }>(
      app.database,
      'SELECT COUNT(*) AS n FROM users WHERE email = :email',
      { email },
    );
    expect(Number(n)).toBe(1);
  });

  test('the operation answers null either way', async () => {
    expect(await app.auth.credential.signUp(ada)).toBeNull();
    expect(await app.auth.credential.signUp({ ...ada, email: 'op@example.com' })).toBeNull();
  });
});
