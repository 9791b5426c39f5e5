import { expect, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import { internalsOf } from '../../lib/auth.js';
import { authRouter, type MailMessage, oauth } from '../../lib/index.js';
import { ada, password, sessionCookie, startApp } from '../support/app.js';
import { linkWith, oidcPlugin, signInWith, startOAuthApp } from '../support/oauth-app.js';
import { CLIENT, type OidcServer, startOidcServer } from '../support/oidc.js';

test('a check of sign-ins holds for every way of signing in', async () => {
  let provider: OidcServer | undefined;
  let router: RequestHandler | undefined;
  const app = await startOAuthApp({
    async providers(redirectUri) {
      provider = await startOidcServer([redirectUri('oidc')]);
      return [oidcPlugin(provider)];
    },
    mount(express, auth) {
      router = authRouter(auth);
      express.use('/auth', (req, res, next) => router?.(req, res, next));
    },
  });
  const person = { email: 'unproven@example.com', password: ada.password };
  await app.auth.credential.signUp(person);
  const browser = app.browser();
  await browser
    .post('/auth/signin/credential')
    .send({ credential: person.email, password: person.password })
    .expect(200);
  expect((await linkWith(browser, 'oidc')).headers.location).toBe('/linked');

  // The same database, now by the rule that the email must be verified.
  const mails: MailMessage[] = [];
  const strict = app.another({
    plugins: [
      password({ requireVerifiedEmail: true }),
      oauth(),
      oidcPlugin(provider as OidcServer, { clientId: CLIENT.clientId }),
    ],
    email: { send: (mail) => mails.push(mail) },
  });
  router = authRouter(strict);
  const refused = await signInWith(app.browser(), 'oidc');
  expect(refused.headers.location).toBe('/done?error=email_not_verified');
  expect(sessionCookie(refused)).toBeUndefined();
  await strict.close();
  expect(mails).toMatchObject([{ kind: 'verify-email', to: person.email }]);

  router = authRouter(
    app.another({
      plugins: [password({ requireVerifiedEmail: true }), oauth(), oidcPlugin(provider as OidcServer)],
      email: { send: () => undefined },
    }),
  );
  const token = mails[0]?.token;
  await app.http.post('/auth/verify-email').send({ token, password: person.password }).expect(200);
  const accepted = await signInWith(app.browser(), 'oidc');
  expect(accepted.headers.location).toBe('/done');
  expect(sessionCookie(accepted)).toBeDefined();
  await app.stop();
  await provider?.stop();
}, 180_000);

test('a session begins only for the user who was checked', async () => {
  const app = await startApp({ plugins: [password()] });
  const { core } = internalsOf(app.auth);
  const proofOf = async (email: string) => {
    const made = await app.auth.credential.signUp({ email, password: ada.password });
    const record = await core.users.findRecord({ id: made!.user.id });
    return { ...record!, amr: ['pwd'] };
  };
  const [checked, other] = [await proofOf(ada.email), await proofOf('eve@example.com')];
  const signIn = await core.checkSignIn(checked);
  await expect(signIn.begin(other)).rejects.toThrow('another user was checked for this sign-in');
  expect(await app.auth.listSessions(other.user.id)).toEqual([]);
  expect(await signIn.begin(checked)).toMatchObject({ user: { id: checked.user.id } });
  await app.stop();
});
