import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, type MailMessage } from '../../../../lib/index.js';
import type { ProviderPlugin } from '../../../../lib/providers.js';
import * as modules from '../../../../lib/providers.js';

import { ada, signedIn } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { proveMailbox } from '../../../support/email-proof.js';
import {
  type Lies,
  type LyingProvider,
  newRsaKeys,
  startLyingProvider,
} from '../../../support/lying-provider.js';
import { begin, type OAuthApp, signInWith, startOAuthApp } from '../../../support/oauth-app.js';
import { visitProvider } from '../../../support/oidc.js';
import { at, client, endpoints } from '../../../support/presets.js';
import { settled } from '../../../support/sessions.js';

/** What a word is worth: nothing, not even joining, joining alone, or as much as an answered mail. */
type Worth = 'nothing' | 'verified' | 'joins' | 'mailbox';

interface Case {
  readonly module: string;
  /** What distinguishes it from other cases of the module. */
  readonly says: string;
  readonly email?: string;
  readonly lies: Lies;
  readonly worth: Worth;
  plugin(issuer: string, id: string): ProviderPlugin;
}

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const { apple, discord, facebook, github, gitlab, google } = modules;
const { linkedin, microsoft, oauth2, oidc, slack, spotify, twitch, x } = modules;
const email = 'ada@example.com';
const named = (userinfo: object, more: object = {}): Lies => ({
  response: { iss: undefined },
  tokens: { id_token: undefined },
  userinfo: { sub: undefined, ...userinfo },
  ...more,
});
const ofGithub = (login: string, verified: boolean) =>
  named({ id: 7, login }, { emails: [{ email, primary: true, verified }] });
/** A service whose profile the app reads, and what it says about the email. */
const ofService = (says: string, word: object, worth: Worth): Case =>
  plain('oauth2', says, named({ id: 8, email }), worth, (issuer, id) =>
    oauth2({
      ...client,
      ...endpoints(issuer),
      id,
      profile: (info) => ({ subject: info.id, email: info.email, emailIsProof: true, ...word }),
    }),
  );
const ofGithubAt = (issuer: string) =>
  github({ ...client, endpoints: { ...endpoints(issuer), emailsUrl: `${issuer}/emails` } });
const claims = (more: object = {}): Lies => ({ claims: { email, email_verified: true, ...more } });
const slackTeam = { 'https://slack.com/team_id': 'T1' };

const ofApple = (says: string, address: string, worth: Worth, verified: unknown = true): Case => ({
  module: 'apple',
  says,
  email: address,
  lies: { response: { iss: undefined }, claims: { email: address, email_verified: verified } },
  worth,
  plugin: (issuer) => {
    const { clientId } = client;
    return apple({ clientId, teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey: pem, issuer });
  },
});
const ofGoogle = (says: string, lies: Lies, worth: Worth, address = email): Case => ({
  module: 'google',
  says,
  email: address,
  lies,
  worth,
  plugin: (issuer) => google({ ...client, issuer }),
});
const plain = (module: string, says: string, lies: Lies, worth: Worth, plugin: Case['plugin']): Case => ({
  module,
  says,
  lies,
  worth,
  plugin,
});

const cases: readonly Case[] = [
  ofApple('a relay address', 'abc@privaterelay.appleid.com', 'mailbox'),
  ofApple('a relay address of today', 'abc@private.icloud.com', 'mailbox', 'true'),
  ofApple('an address of its own', 'ada@icloud.com', 'mailbox'),
  ofApple('another address', email, 'joins'),
  ofApple('an address that only ends like its own', 'ada@noticloud.com', 'joins'),
  ofApple('an unverified address', 'ada@icloud.com', 'nothing', false),
  plain('discord', 'verified', named({ id: '8', email, verified: true }), 'joins', (issuer) =>
    discord(at(issuer)),
  ),
  plain('discord', 'not verified', named({ id: '8', email, verified: false }), 'nothing', (issuer) =>
    discord(at(issuer)),
  ),
  plain('facebook', 'an address', named({ id: '8', email }), 'nothing', (issuer) => facebook(at(issuer))),
  plain('github', 'verified', ofGithub('octocat', true), 'joins', (issuer) => ofGithubAt(issuer)),
  plain('github', 'verified, managed', ofGithub('octo_acme', true), 'verified', (issuer) =>
    ofGithubAt(issuer),
  ),
  plain('github', 'not verified', ofGithub('octocat', false), 'nothing', (issuer) => ofGithubAt(issuer)),
  plain('gitlab', 'self-managed', claims(), 'nothing', (issuer) => gitlab({ ...client, issuer })),
  plain('gitlab', 'self-managed, trusted', claims(), 'mailbox', (issuer) =>
    gitlab({ ...client, issuer, trustEmailVerified: true }),
  ),
  ofGoogle('a Gmail address', claims({ email: 'ada@gmail.com' }), 'mailbox', 'ada@gmail.com'),
  ofGoogle('an address of a Workspace', claims({ hd: 'example.com' }), 'mailbox'),
  ofGoogle('another address', claims(), 'verified'),
  ofGoogle('an unverified address', claims({ hd: 'example.com', email_verified: false }), 'nothing'),
  plain('linkedin', 'verified', named({ sub: 'l', email, email_verified: true }), 'joins', (issuer) =>
    linkedin(at(issuer)),
  ),
  plain('microsoft', 'verified', claims(), 'nothing', (issuer) => microsoft({ ...client, issuer })),
  ofService('proof', {}, 'joins'),
  ofService('proof, authoritative', { emailIsAuthoritative: true }, 'mailbox'),
  ofService('proof, not authoritative', { emailIsAuthoritative: false }, 'verified'),
  ofService('authoritative, but no proof', { emailIsProof: false, emailIsAuthoritative: true }, 'nothing'),
  plain('oidc', 'verified', claims(), 'nothing', (issuer, id) => oidc({ id, ...client, issuer })),
  plain('oidc', 'verified, trusted', claims(), 'mailbox', (issuer, id) =>
    oidc({ id, ...client, issuer, trustEmailVerified: true }),
  ),
  plain('slack', 'verified', claims(slackTeam), 'nothing', (issuer) => slack({ ...client, issuer })),
  plain('slack', 'verified, trusted', claims(slackTeam), 'mailbox', (issuer) =>
    slack({ ...client, issuer, trustEmailVerified: true }),
  ),
  plain('spotify', 'an address', named({ id: 's', account_id: 's', email }), 'nothing', (issuer) =>
    spotify(at(issuer)),
  ),
  plain('twitch', 'verified', claims(), 'joins', (issuer) => twitch({ ...client, issuer })),
  plain('x', 'confirmed', named({ data: { id: '8', confirmed_email: email } }), 'joins', (issuer) =>
    x(at(issuer)),
  ),
];

test('every module has a row', () => {
  const { default: _, ...all } = modules as typeof modules & { default?: unknown };
  expect([...new Set(cases.map(({ module }) => module))].sort()).toEqual(Object.keys(all).sort());
});

describe.each(cases.map((one) => [`${one.module}, ${one.says}`, one] as const))(
  'the word of %s',
  (_name, one) => {
    const address = one.email ?? email;
    let app: OAuthApp;
    let provider: LyingProvider;
    const mails: MailMessage[] = [];

    beforeAll(async () => {
      provider = one.module === 'apple' ? await startLyingProvider(newRsaKeys()) : await startLyingProvider();
      const { issuer } = provider;
      provider.lies = one.lies;
      app = await startOAuthApp({
        options: { linkByVerifiedEmail: true },
        providers: () => [
          one.plugin(issuer, 'provider'),
          // A provider that runs the mailbox. Its people are others than those of the module.
          oauth2({
            ...client,
            ...endpoints(issuer),
            id: 'owner',
            profile: () => ({
              subject: 'owner',
              email: address,
              emailIsProof: true,
              emailIsAuthoritative: true,
            }),
          }),
          admin({ adminEmails: [address] }) as unknown as ProviderPlugin,
        ],
        config: { email: { send: (mail) => void mails.push(mail) } },
      });
    });
    afterEach(async () => {
      await rows(app.database, 'DELETE FROM users');
      await settled(app.auth);
      mails.splice(0);
    });
    afterAll(async () => {
      await app.stop();
      await provider.stop();
    });

    const id = () => (['oauth2', 'oidc'].includes(one.module) ? 'provider' : one.module);
    const signIn = async (name = id()) => {
      const browser = app.browser();
      if (name === 'apple') {
        const back = new URL(
          await visitProvider(await begin(browser, '/auth/oauth/apple/authorize?callback_url=/done')),
        );
        const posted = await app.http.post(back.pathname).type('form').send(back.searchParams.toString());
        return { browser, location: (await browser.get(posted.headers.location ?? '')).headers.location };
      }
      // Facebook's own fragment is removed.
      return { browser, location: (await signInWith(browser, name)).headers.location?.replace(/#$/, '') };
    };
    /** The user's ids that the accounts of a provider are linked to. */
    const linkedTo = async (name: string) =>
      (
        await rows<{ user_id: string }>(app.database, 'SELECT user_id FROM accounts WHERE provider = :name', {
          name,
        })
      ).map(({ user_id }) => user_id);
    const emailOf = async (browser: OAuthApp['browser'] extends () => infer B ? B : never) =>
      (await browser.get('/auth/me').expect(200)).body.user.email;
    const ownerSignsIn = async () => {
      const { lies } = provider;
      provider.lies = named({ id: 'owner' });
      const { location } = await signIn('owner');
      provider.lies = lies;
      return location;
    };
    const exists = '/done?error=account_exists';

    test(`is worth ${one.worth} for a new account`, async () => {
      const { browser, location } = await signIn();
      expect(location).toBe('/done');
      expect(await emailOf(browser)).toBe(one.worth === 'nothing' ? null : address);
      const isAdministrator = one.worth === 'mailbox';
      await browser.get('/auth/admin/users').expect(isAdministrator ? 200 : 403);
      await settled(app.auth);
      const verifications = mails.filter(({ kind }) => kind === 'verify-email').map(({ to }) => to);
      const isMailed = one.worth === 'verified' || one.worth === 'joins';
      expect(verifications).toEqual(isMailed ? [address] : []);
      if (one.worth === 'nothing') return;
      // Whoever has the mailbox comes by a reset.
      await app.http.post('/auth/passwords/request-reset').send({ email: address }).expect(202);
      await settled(app.auth);
      const { token } = mails.find(({ kind }) => kind === 'reset-password') ?? {};
      await app.http
        .post('/auth/passwords/reset')
        .send({ token, new_password: 'the owner of it' })
        .expect(204);
      expect(await linkedTo(id())).toHaveLength(one.worth === 'mailbox' ? 1 : 0);
    });

    test(`is worth ${one.worth} when the owner comes by a provider that runs the mailbox`, async () => {
      await signIn();
      expect(await ownerSignsIn()).toBe(['nothing', 'mailbox'].includes(one.worth) ? '/done' : exists);
      const [first] = await linkedTo(id());
      expect((await linkedTo('owner'))[0] === first).toBe(one.worth === 'mailbox');
    });

    test(`is worth ${one.worth} for an account that has the address already`, async () => {
      const joins = one.worth === 'joins' || one.worth === 'mailbox';
      const browser = await signedIn(app, { ...ada, email: address });
      const { id: userId } = (await browser.get('/auth/me')).body.user;
      const expected = one.worth === 'nothing' ? '/done' : exists;
      // Nobody has vouched for it, or the app has: neither shows that its user has the mailbox.
      expect((await signIn()).location).toBe(expected);
      await app.auth.markEmailVerified(userId);
      expect((await signIn()).location).toBe(expected);
      expect(await linkedTo(id())).not.toContain(userId);
      await rows(app.database, 'DELETE FROM accounts');
      await proveMailbox(app.auth, userId);
      expect((await signIn()).location).toBe(joins ? '/done' : expected);
      expect((await linkedTo(id())).includes(userId)).toBe(joins);
    });
  },
);
