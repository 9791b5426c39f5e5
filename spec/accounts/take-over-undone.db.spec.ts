import { afterAll, expect, test } from '@jest/globals';
import { apiKeys, oauth, passkeys, twoFactor } from '../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { byUser } from '../support/changes.js';
import { rows } from '../support/database.js';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.js';
import { mailbox } from '../support/mailbox.js';
import { oidcPlugin } from '../support/oauth-app.js';
import { addPasskey, authenticator, PAGE, signInWith } from '../support/passkeys.js';
import { expectProblem } from '../support/problem.js';
import { enroll } from '../support/two-factor.js';

// An account is taken over, and put back by one link.
const EVE = { email: 'eve@example.com', password: 'the words of an intruder' };

let provider: LyingProvider;
let app: SpecApp<ReturnType<typeof plugins>>;
const mails = mailbox();

const plugins = () =>
  [password({ username: true }), apiKeys(), twoFactor(), passkeys(), oauth(), oidcPlugin(provider)] as const;

afterAll(async () => {
  await app.stop();
  await provider.stop();
});

test('an intruder changes everything there is; the link in the first mail puts the account back', async () => {
  provider = await startLyingProvider();
  app = await startApp({ plugins: plugins(), config: { baseUrl: PAGE, email: { send: mails.send } } });
  const undo = (browser: ReturnType<typeof app.browser>, body: object) =>
    browser.post('/auth/undo-change').send(body);
  const signIn = (browser: ReturnType<typeof app.browser>, person: typeof ada) =>
    browser.post('/auth/signin/credential').send({ credential: person.email, password: person.password });

  // Ada has an account with a link, a key and a passkey.
  const owner = app.browser();
  const { user } = (
    await owner
      .post('/auth/signup/credential')
      .send({ ...ada, username: 'ada' })
      .expect(201)
  ).body;
  const id = user.id as string;
  await app.auth.markEmailVerified(id);
  const first = await signIn(owner, ada).expect(200);
  const adasPhone = authenticator();
  const kept = await addPasskey(owner, adasPhone, 'Phone');
  const adasKey = await app.auth.apiKeys.create(id, { name: 'backup' });
  await rows(
    app.database,
    `INSERT INTO accounts (id, user_id, provider, issuer, subject, scopes, relink_required, refreshed_at, created_at, updated_at)
     VALUES (:key, :id, 'oidc', :issuer, 'adas-subject', '', :no, :now, :now, :now)`,
    {
      key: '01890000-0000-7000-8000-000000000001',
      id,
      issuer: 'https://issuer.example',
      no: false,
      now: new Date(),
    },
  );
  const before = await app.auth.users.get(id);

  // Eve has her session and her password.
  const intruder = app.browser();
  await intruder
    .get('/auth/me')
    .set('cookie', `latchkey=${sessionCookie(first)?.value}`)
    .expect(200);
  const { token } = await mails.mailOf(ada.email, 'new-device', () => signIn(intruder, ada).expect(200));
  await intruder
    .post('/auth/passwords/change')
    .send({ current_password: ada.password, new_password: EVE.password })
    .expect(200);
  await byUser(app.auth, id, (own) => app.auth.users.changeEmail(id, EVE.email, { verified: true, ...own }));
  const theirs: string[] = [];
  const told = async (kind: string, work: () => PromiseLike<unknown>) =>
    theirs.push((await mails.mailOf(EVE.email, kind, work)).token);
  await told('provider-unlinked', () => intruder.delete('/auth/oauth/oidc/unlink').expect(204));
  await told('api-key-created', () =>
    intruder.post('/auth/api-keys').send({ name: 'back door' }).expect(201),
  );
  await intruder.patch('/auth/me').send({ username: 'eve' }).expect(200);
  const evesPhone = authenticator();
  await told('passkey-added', () => addPasskey(intruder, evesPhone, 'Mine'));
  await told('passkey-removed', () => intruder.delete(`/auth/passkeys/${kept.id}`).expect(204));
  await told('second-factor-enabled', () => enroll(intruder));
  await told('recovery-codes-renewed', () => intruder.post('/auth/two-factor/recovery-codes').expect(200));

  // The link wants the browser in which she signed in before, and the password of then.
  const proof = { token, password: ada.password };
  for (const other of [app.browser(), intruder])
    expectProblem(await undo(other, proof), 403, 'proof_required', ['browser']);
  expectProblem(await undo(owner, { token }), 403, 'proof_required', ['password', 'passkey']);
  expectProblem(await undo(owner, { token, password: EVE.password }), 401, 'invalid_credentials');
  const reset = await mails.mailOf(ada.email, 'reset-password', () =>
    undo(owner, proof).expect(200, { undone: 'new-device' }),
  );

  // All is as it was,
  expect(await app.auth.users.get(id)).toEqual({ ...before, updatedAt: expect.any(Date) });
  const linked = await rows(app.database, 'SELECT provider, subject FROM accounts');
  expect(linked).toEqual([{ provider: 'oidc', subject: 'adas-subject' }]);
  expect((await app.auth.apiKeys.list(id)).map(({ id }) => id)).toEqual([adasKey.apiKey.id]);
  await signInWith(app.browser(), adasPhone).then(({ status }) => expect(status).toBe(200));

  // the intruder is out,
  await intruder.get('/auth/me').expect(401);
  expectProblem(await signInWith(app.browser(), evesPhone), 401, 'unknown_passkey');
  for (const person of [EVE, ada, { ...ada, password: EVE.password }])
    expectProblem(await signIn(intruder, person), 401, 'invalid_credentials');

  // and nothing that she got by mail undoes it.
  for (const one of theirs)
    for (const word of [ada.password, EVE.password])
      expectProblem(await undo(intruder, { token: one, password: word }), 400, 'invalid_token');
  await owner
    .post('/auth/passwords/reset')
    .send({ token: reset.token, new_password: 'a difference engine' })
    .expect(204);
  await signIn(owner, { ...ada, password: 'a difference engine' }).expect(200);
});
