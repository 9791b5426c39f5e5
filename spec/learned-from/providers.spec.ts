import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, oauth, suspension } from '../../lib/index.js';
import { microsoft } from '../../lib/providers.js';
import { ada, password, sessionCookie, signedIn } from '../support/app.js';
import { rows } from '../support/database.js';
import { proveMailbox } from '../support/email-proof.js';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.js';
import {
  begin,
  countRows,
  type OAuthApp,
  oidcPlugin,
  pathOf,
  signInWith,
  startOAuthApp,
} from '../support/oauth-app.js';
import { CLIENT, visitProvider } from '../support/oidc.js';
import { expectProblem } from '../support/problem.js';

// What contributing/learned-from.md says of sign-ins with a provider.
const AUTHORIZE = '/auth/oauth/oidc/authorize';
const NOBODY = { users: 0, accounts: 0, sessions: 0 };

let app: OAuthApp;
let provider: LyingProvider;
beforeAll(async () => {
  provider = await startLyingProvider();
  app = await startOAuthApp({
    providers: () => [oidcPlugin(provider)],
    options: { linkByVerifiedEmail: true },
    config: {
      plugins: [
        password(),
        oauth({ linkByVerifiedEmail: true }),
        oidcPlugin(provider),
        admin({ adminEmails: ['root@example.com'] }),
        suspension(),
      ] as never,
    },
  });
});
afterEach(async () => {
  provider.lies = {};
  app.log.length = 0;
  await rows(app.database, 'DELETE FROM users');
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

const meOf = async (browser: ReturnType<OAuthApp['browser']>) =>
  (await browser.get('/auth/me').expect(200)).body.user;
/** Ends with an error, and without a session or anything else. */
async function expectRefused(lies: LyingProvider['lies'], error: string) {
  const before = await countRows(app.database);
  provider.lies = lies;
  const answer = await signInWith(app.browser(), 'oidc');
  expect([answer.status, answer.headers.location]).toEqual([303, `/done?error=${error}`]);
  expect(sessionCookie(answer)).toBeUndefined();
  expect(await countRows(app.database)).toEqual(before);
}

describe('a return belongs to the browser and the flow that began it', () => {
  test('CVE-2023-27490: a return without state, or one that another browser was given, signs nobody in', async () => {
    const victim = app.browser();
    const begun = await victim.get(AUTHORIZE).expect(302);
    const returned = new URL(await visitProvider(String(begun.headers.location)));
    // The attacker has read the victim's return before the app has.
    const stolen = returned.pathname + returned.search;
    for (const browser of [app.browser(), app.http])
      expectProblem(await browser.get(stolen), 400, 'invalid_flow');
    const other = app.browser();
    await begin(other, AUTHORIZE);
    expectProblem(await other.get(stolen), 400, 'invalid_flow');
    // A cookie of the right name, with another value.
    const [name] = String(begun.headers['set-cookie']).split('=');
    expectProblem(await app.http.get(stolen).set('cookie', `${name}=${'A'.repeat(43)}`), 400, 'invalid_flow');
    // A code without its state, in the browser that asked for it.
    returned.searchParams.delete('state');
    expectProblem(await victim.get(returned.pathname + returned.search), 400, 'invalid_flow');
    expect(await countRows(app.database)).toEqual(NOBODY);
    // The victim's own flow was not used up by any of this.
    expect((await victim.get(stolen)).status).toBe(303);
    await meOf(victim);
    expectProblem(await victim.get(stolen), 400, 'invalid_flow');
  });

  test('CVE-2023-27490: state, nonce and PKCE are sent, and a code without its verifier or nonce is refused', async () => {
    await signInWith(app.browser(), 'oidc');
    const asked = provider.authorizations.at(-1);
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect([name, (asked?.get(name) ?? '').length > 20]).toEqual([name, true]);
    expect(asked?.get('code_challenge_method')).toBe('S256');
    await rows(app.database, 'DELETE FROM users');
    await expectRefused({ claims: { nonce: undefined } }, 'provider_error');
    await expectRefused({ claims: { nonce: 'of another flow' } }, 'provider_error');
    // What begins the flow, without the challenge: the verifier is sent to a provider that did not bind the code.
    const browser = app.browser();
    const url = new URL(await begin(browser, AUTHORIZE));
    url.searchParams.set('code_challenge', 'another');
    provider.lies = {};
    const answer = await browser.get(pathOf(await visitProvider(url.href)));
    expect(answer.headers.location).toMatch(/error=/);
    expect(await countRows(app.database)).toEqual(NOBODY);
  });

  test('CVE-2023-31999, GHSA-wxw3-q3m9-c3jr: every flow has a state of its own, and only its own is accepted', async () => {
    const [one, two] = [app.browser(), app.browser()];
    const urls = await Promise.all([begin(one, AUTHORIZE), begin(one, AUTHORIZE), begin(two, AUTHORIZE)]);
    const states = urls.map((url) => new URL(url).searchParams.get('state') ?? '');
    expect(new Set(states).size).toBe(3);
    const back = new URL(await visitProvider(urls[0] ?? ''));
    for (const state of ['', 'junk', states[2] ?? '']) {
      back.searchParams.set('state', state);
      expectProblem(await one.get(back.pathname + back.search), 400, 'invalid_flow');
    }
    // The state of this browser's other flow, with the code of the first.
    back.searchParams.set('state', states[1] ?? '');
    const mixed = await one.get(back.pathname + back.search);
    expect([mixed.status, mixed.headers.location]).toEqual([303, '/?error=provider_error']);
    expect(await countRows(app.database)).toEqual(NOBODY);
  });

  test('CVE-2015-9284: no other site can begin a link, and a link ends in the session that began it', async () => {
    const browser = await signedIn(app);
    const cross = await browser.get('/auth/oauth/oidc/link').set({ 'sec-fetch-site': 'cross-site' });
    expectProblem(cross, 403, 'origin_not_allowed');
    const navigation = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    expectProblem(await browser.get('/auth/oauth/oidc/link').set(navigation), 403, 'origin_not_allowed');
    // The attacker begins a link of their own, and sends the victim to its end.
    const mallory = await signedIn(app, { email: 'mallory@evil.example', password: ada.password });
    const end = pathOf(await visitProvider(await begin(mallory, '/auth/oauth/oidc/link')));
    expectProblem(await browser.get(end), 400, 'invalid_flow');
    expect((await countRows(app.database)).accounts).toBe(0);
  });
});

describe('a person is an issuer and a subject', () => {
  test('CVE-2025-65431: another subject with the same name and email is another person', async () => {
    const claims = { sub: 'one', preferred_username: 'ada', email: undefined };
    provider.lies = { claims, userinfo: { sub: 'one', email: undefined } };
    const first = app.browser();
    await signInWith(first, 'oidc');
    provider.lies = { claims: { ...claims, sub: 'two' }, userinfo: { sub: 'two', email: undefined } };
    const second = app.browser();
    await signInWith(second, 'oidc');
    expect((await meOf(second)).id).not.toBe((await meOf(first)).id);
    // And the same subject under another name is the same person.
    provider.lies = {
      claims: { ...claims, preferred_username: 'lovelace' },
      userinfo: { sub: 'one', email: undefined },
    };
    const third = app.browser();
    await signInWith(third, 'oidc');
    expect((await meOf(third)).id).toBe((await meOf(first)).id);
  });

  test('CVE-2026-53516: a verified email of a provider joins no account whose own email nobody has proved', async () => {
    const stranger = await signedIn(app);
    await expectRefused({}, 'account_exists');
    expect((await meOf(stranger)).email_verified_at).toBeNull();
    await stranger.get('/auth/oauth/accounts').expect(200, { accounts: [] });
    // A claim that is text is no claim.
    await proveMailbox(app.auth, (await meOf(stranger)).id);
    provider.lies = { claims: { email_verified: 'false' } };
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    expect(await meOf(browser)).toMatchObject({ email: null, email_verified_at: null });
  });

  test('CVE-2023-3128: an email of Microsoft, which its users can change, finds no account', async () => {
    const ENTRA = 'https://login.microsoftonline.com';
    const realFetch = globalThis.fetch;
    globalThis.fetch = (input, init) => {
      const url = String(input)
        .replace(`${ENTRA}/common/v2.0`, provider.issuer)
        .replace(ENTRA, provider.issuer);
      return realFetch(url, init);
    };
    const entra = await startOAuthApp({
      providers: () => [microsoft(CLIENT)],
      options: { linkByVerifiedEmail: true },
    });
    const owner = await signedIn(entra);
    await proveMailbox(entra.auth, (await meOf(owner)).id);
    const tid = 'f8cdef31-a31e-4b4a-93e4-5f571e91255a';
    const issuer = `${ENTRA}/${tid}/v2.0`;
    provider.lies = {
      claims: { iss: issuer, tid, sub: 'attacker', email: ada.email, email_verified: true, xms_edov: true },
      response: { iss: undefined },
      metadata: {
        issuer: `${ENTRA}/{tenantid}/v2.0`,
        authorization_endpoint: `${ENTRA}/authorize`,
        token_endpoint: `${ENTRA}/token`,
        userinfo_endpoint: `${ENTRA}/userinfo`,
        jwks_uri: `${ENTRA}/jwks`,
        authorization_response_iss_parameter_supported: undefined,
      },
    };
    const attacker = entra.browser();
    expect((await signInWith(attacker, 'microsoft')).headers.location).toBe('/done');
    expect((await meOf(attacker)).id).not.toBe((await meOf(owner)).id);
    expect((await meOf(attacker)).email).toBeNull();
    globalThis.fetch = realFetch;
    await entra.stop();
  });

  test('CVE-2025-53942: a suspended user is refused after the provider as after a password, and half signs in nowhere', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    const { id } = await meOf(browser);
    await (app.auth as never as { suspension: { suspend(id: string): Promise<unknown> } }).suspension.suspend(
      id,
    );
    await expectRefused({}, 'account_suspended');
    expect((await countRows(app.database)).sessions).toBe(0);
  });
});

describe('an ID token is what the configured provider signed', () => {
  test('CVE-2023-22893: without a signature, or with one of another key, it is refused', async () => {
    for (const lies of [{ alg: 'none' }, { alg: 'None' }, { alg: 'HS256' }, { wrongKey: true }])
      await expectRefused(lies, 'provider_error');
    expect(await countRows(app.database)).toEqual(NOBODY);
  });

  test('CVE-2026-31813: an issuer that somebody else runs is refused, although its tokens are in order', async () => {
    const evil = await startLyingProvider();
    await expectRefused({ claims: { iss: evil.issuer } }, 'provider_error');
    // Tokens, keys and all of the other issuer.
    const foreign = { token_endpoint: `${evil.issuer}/token`, jwks_uri: `${evil.issuer}/jwks` };
    const fresh = await startOAuthApp({ providers: () => [oidcPlugin(provider)] });
    provider.lies = { metadata: { issuer: evil.issuer, ...foreign } };
    const begun = await fresh.browser().get(AUTHORIZE);
    expect([begun.status, begun.body.code]).toEqual([502, 'provider_error']);
    await fresh.stop();
    await evil.stop();
  });
});

describe('what belongs to the provider alone is told to nobody', () => {
  test('CVE-2022-31186: no error of a flow brings a secret, a code or a token into the log', async () => {
    for (const lies of [
      { refuses: () => 'invalid_client' },
      { wrongKey: true },
      { tokens: { id_token: 'junk' } },
      {
        answers: {
          token: (_req: unknown, res: { end(text: string): void }) => res.end('provider-access-junk'),
        },
      },
    ] as LyingProvider['lies'][])
      await expectRefused(lies, 'provider_error');
    const log = app.log.join('\n');
    expect(log).toContain('oidc');
    for (const secret of [
      CLIENT.clientSecret,
      encodeURIComponent(CLIENT.clientSecret),
      /provider-(code|access|refresh)-/,
    ])
      expect(log).not.toMatch(secret);
  });

  test('CVE-2026-40166: no route shows the secret of the client', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    for (const path of [
      '/me',
      '/oauth/accounts',
      '/oauth/oidc/tokens',
      '/sign-in-methods',
      '/sessions',
      '/openapi.json',
    ])
      expect((await browser.get(`/auth${path}`).expect(200)).text).not.toContain(CLIENT.clientSecret);
    expect((await browser.get(AUTHORIZE).expect(302)).headers.location).not.toMatch(/secret/);
  });

  test('CVE-2026-39324: a stored token that does not open is not read in another way', async () => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    for (const value of ['chosen-by-the-attacker', Buffer.from('{"a":1}').toString('base64')]) {
      await rows(app.database, 'UPDATE accounts SET access_token = :value', { value });
      const answer = await browser.get('/auth/oauth/oidc/tokens');
      expectProblem(answer, 409, 'relink_required');
      expect(answer.text).not.toContain(value);
    }
  });
});
