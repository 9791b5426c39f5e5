import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ada, password } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';

let app: MailApp<readonly [ReturnType<typeof password>]>;

const signUp = (body: object = ada) => app.http.post('/auth/signup/credential').send(body);
const signIn = (credential = ada.email, given = ada.password) =>
  app.http.post('/auth/signin/credential').send({ credential, password: given });

describe('requireVerifiedEmail', () => {
  beforeEach(async () => {
    app = await startMailApp({ plugins: [password({ requireVerifiedEmail: true })] });
  });
  afterEach(() => app.stop());

  test('rejects a sign-in until the email is verified, and sends a link', async () => {
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

  test('does not reveal without the password that an email is not verified, and sends no email', async () => {
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

  test('accepts a password reset as verification', async () => {
    await app.mailOf(() => signUp());
    const { token } = await app.mailOf(() =>
      app.http.post('/auth/passwords/request-reset').send({ email: ada.email }),
    );
    await app.http.post('/auth/passwords/reset').send({ token, new_password: ada.password }).expect(204);
    await signIn().expect(200);
  });

  test('gives the same response when the rate limit for emails is reached', async () => {
    await app.stop();
    app = await startMailApp({
      plugins: [password({ requireVerifiedEmail: true })],
      config: { rateLimit: { signIn: false, mail: { limit: 4, window: 3600 } } },
    });
    await app.mailOf(() => signUp());
    for (let index = 0; index < 6; index++) expectProblem(await signIn(), 403, 'email_not_verified');
    // One for the sign-up, three for the sign-ins.
    await settled(app.auth);
    expect(app.mails).toHaveLength(4);
  });

  test('rejects a programmatic password change that would create a session, before anything changes', async () => {
    const { user } = await app.mailOf(() => signUp());
    const change = app.auth.credential.changePassword({
      userId: user!.id,
      currentPassword: ada.password,
      newPassword: 'a difference engine',
    });
    await expect(change).rejects.toMatchObject({ code: 'email_not_verified' });
    expectProblem(await signIn(), 403, 'email_not_verified');
    expectProblem(await signIn(ada.email, 'a difference engine'), 401, 'invalid_credentials');
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

  test('gives the same response to a sign-up whether or not the email has an account', async () => {
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
    // Only the owner of the mailbox learns the result and can continue.
    expect(toKnown).toMatchObject({ kind: 'reset-password', to: ada.email });
    // Without pages(), latchkey does not know where users sign in.
    expect(toKnown.text).toMatch(
      /^Someone signed up with your email, .* sign in as usual\.\n\nIf you forgot your password, choose a new one here:\n\n/,
    );
    expect(toKnown.text.match(/http/g)).toHaveLength(1);
    expect(toUnknown).toMatchObject({ kind: 'verify-email', to: 'new@example.com' });
    // The password of the existing account has not changed.
    expectProblem(await signIn(ada.email, 'another password'), 401, 'invalid_credentials');
  });

  test('does not reveal an account through the username', async () => {
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

  test('does not reveal an account through other errors', async () => {
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

  test('gives the same response to repeated and concurrent sign-ups', async () => {
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

  test('makes the operation in code return null in both cases', async () => {
    expect(await app.auth.credential.signUp(ada)).toBeNull();
    expect(await app.auth.credential.signUp({ ...ada, email: 'op@example.com' })).toBeNull();
  });
});
