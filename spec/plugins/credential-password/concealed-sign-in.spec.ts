import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ada, password } from '../../support/app.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { expectProblem } from '../../support/problem.js';

const STRANGERS = { password: 'the password of a stranger', username: 'stranger' };
const WRONG = 'a wrong password';
const known = ada.email;
const unknown = 'nobody@example.com';

describe.each([
  ['alone', {}],
  ['with requireVerifiedEmail', { requireVerifiedEmail: true }],
])('concealExistingEmails %s', (_name, options) => {
  const plugin = () => password({ concealExistingEmails: true, username: true, ...options });
  let app: MailApp<readonly [ReturnType<typeof plugin>]>;

  beforeEach(async () => {
    app = await startMailApp({
      plugins: [plugin()],
      config: { rateLimit: { signIn: false, signUp: false, mail: false } },
    });
    const { token } = await app.mailOf(() => signUp(known, ada.password));
    await app.http.post('/auth/verify-email').send({ token, password: ada.password }).expect(200);
  });
  afterEach(() => app.stop());

  const signUp = (email: string, given = STRANGERS.password) =>
    app.http.post('/auth/signup/credential').send({ email, password: given }).expect(202);
  const signIn = (credential: string, given = STRANGERS.password) =>
    app.http.post('/auth/signin/credential').send({ credential, password: given });
  const look = ({ status, text, headers: { date, ...headers } }: Awaited<ReturnType<typeof signIn>>) => ({
    status,
    text,
    headers,
  });
  /** The responses to the same requests for each of the emails. */
  const ofBoth = async (requests: (email: string) => Promise<unknown[]>) =>
    [await requests(known), await requests(unknown)] as const;

  test('gives the same response to a sign-in after a sign-up, whether or not the email had an account', async () => {
    const [ofKnown, ofUnknown] = await ofBoth(async (email) => {
      await signUp(email);
      return [look(await signIn(email)), look(await signIn(email, WRONG))];
    });
    expect(ofKnown).toEqual(ofUnknown);
    expect(ofKnown[0]).toEqual(ofKnown[1]);
    expectProblem(await signIn(unknown), 401, 'invalid_credentials');
  });

  test.each([0, 2, 5])('pauses equally after a sign-up that follows %d wrong passwords', async (failures) => {
    const [ofKnown, ofUnknown] = await ofBoth(async (email) => {
      for (let index = 0; index < failures; index++) await signIn(email, WRONG).expect(401);
      await signUp(email);
      const statuses = [];
      for (let index = 0; index < 6; index++) statuses.push((await signIn(email)).status);
      return statuses;
    });
    expect(ofKnown).toEqual(ofUnknown);
    expect(ofKnown).toEqual([...Array(5 - failures).fill(401), ...Array(failures + 1).fill(429)]);
  });

  test('does not connect the attempts for a username with an account that is not verified', async () => {
    for (const email of [known, unknown]) {
      const username = email.split('@')[0] as string;
      await app.http
        .post('/auth/signup/credential')
        .send({ email, ...STRANGERS, username })
        .expect(202);
      for (let index = 0; index < 5; index++) await signIn(username, WRONG).expect(401);
      expectProblem(await signIn(username), 429, 'rate_limited');
      expectProblem(await signIn(email), 401, 'invalid_credentials');
    }
  });

  test('sends no email for the sign-in of one kind of account only', async () => {
    await app.mailOf(() => signUp(unknown));
    await app.noMailOf(() => signIn(unknown));
    await app.noMailOf(() => signIn(known));
  });

  test('lets the owner sign in after the link with the password, or after a reset', async () => {
    const { token } = await app.mailOf(() => signUp(unknown));
    await app.http.post('/auth/verify-email').send({ token, password: STRANGERS.password }).expect(200);
    await signIn(unknown).expect(200);
    const other = 'other@example.com';
    await app.mailOf(() => signUp(other));
    const reset = await app.mailOf(() => signUp(other, 'forgot about that'));
    expect(reset).toMatchObject({ kind: 'reset-password', to: other });
    const body = { token: reset.token, new_password: 'the owner of it' };
    await app.http.post('/auth/passwords/reset').send(body).expect(204);
    await signIn(other, 'the owner of it').expect(200);
  });
});
