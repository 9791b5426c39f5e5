import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { microsoft } from '../../../../lib/providers.js';
import { rows } from '../../../support/database.js';
import { type LyingProvider, startLyingProvider } from '../../../support/lying-provider.js';
import { type OAuthApp, signInWith, startOAuthApp } from '../../../support/oauth-app.js';
import { expectProblem } from '../../../support/problem.js';

const ENTRA = 'https://login.microsoftonline.com';
const client = { clientId: 'c', clientSecret: 's' };
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad';
const COMPANY = 'f8cdef31-a31e-4b4a-93e4-5f571e91255a';
const issuerOf = (tenant: string) => `${ENTRA}/${tenant}/v2.0`;

// The special cases of Microsoft depend on its own address, so the requests use this address and are
// redirected in fetch.
describe('microsoft()', () => {
  let app: OAuthApp;
  let provider: LyingProvider;
  const realFetch = globalThis.fetch;
  beforeAll(async () => {
    provider = await startLyingProvider();
    globalThis.fetch = (input, init) =>
      realFetch(
        String(input)
          .replace(
            /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)\/v2\.0/i,
            provider.issuer,
          )
          .replace(ENTRA, provider.issuer),
        init,
      );
    app = await startOAuthApp({ providers: () => [microsoft(client)] });
  });
  afterEach(async () => {
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    globalThis.fetch = realFetch;
    await app.stop();
    await provider.stop();
  });

  function signIn(
    browser: ReturnType<OAuthApp['browser']>,
    tenant: string,
    claims: Record<string, unknown> = {},
  ) {
    provider.lies = {
      claims: { iss: issuerOf(tenant), tid: tenant, email_verified: true, ...claims },
      response: { iss: undefined },
      metadata: {
        issuer: issuerOf('{tenantid}'),
        authorization_endpoint: `${ENTRA}/authorize`,
        token_endpoint: `${ENTRA}/token`,
        userinfo_endpoint: `${ENTRA}/userinfo`,
        jwks_uri: `${ENTRA}/jwks`,
        authorization_response_iss_parameter_supported: undefined,
      },
    };
    return signInWith(browser, 'microsoft');
  }

  test('signs in users of any tenant, and treats the same subject in two tenants as two users', async () => {
    const ids = new Set<string>();
    for (const tenant of [PERSONAL, COMPANY]) {
      for (let round = 0; round < 2; round++) {
        const browser = app.browser();
        expect((await signIn(browser, tenant)).headers.location).toBe('/done');
        ids.add((await browser.get('/auth/me').expect(200)).body.user.id);
      }
    }
    expect(ids.size).toBe(2);
  });

  test('never treats an email as verified', async () => {
    const browser = app.browser();
    await signIn(browser, COMPANY, { xms_edov: true });
    const { body } = await browser.get('/auth/me').expect(200);
    expect(body.user).toMatchObject({ email: null, email_verified_at: null });
  });

  test('requests userinfo with a token for Graph, and not with a token for another API', async () => {
    const asked = async (scopes?: string[]) => {
      const other = await startOAuthApp({
        providers: () => [microsoft({ ...client, ...(scopes && { scopes }) })],
      });
      await signIn(app.browser(), COMPANY);
      provider.resourceRequests.length = 0;
      expect((await signInWith(other.browser(), 'microsoft')).headers.location).toBe('/done');
      await other.stop();
      return provider.resourceRequests.length;
    };
    expect(await asked()).toBe(1);
    expect(await asked(['openid', 'https://graph.microsoft.com/Mail.Read'])).toBe(1);
    expect(await asked(['openid', 'api://our-own/read'])).toBe(0);
    expect(await asked(['openid', '9188040d-6c67-4c5b-b112-36a304b66dad/.default'])).toBe(0);
  });

  describe('with a key set that names the issuers of its keys', () => {
    const signInAs = async (tenant: string, keyIssuer: string) => {
      const browser = app.browser();
      const lies = () => ({ ...provider.lies, keyIssuer });
      // A fresh app has no cached keys.
      const other = await startOAuthApp({ providers: () => [microsoft(client)] });
      const own = other.browser();
      await signIn(browser, tenant);
      provider.lies = lies();
      const location = (await signInWith(own, 'microsoft')).headers.location;
      return {
        location,
        refresh: () => own.post('/auth/oauth/microsoft/tokens/refresh'),
        stop: () => other.stop(),
      };
    };

    test('accepts a key of the tenant, and one of all tenants', async () => {
      for (const issuer of [issuerOf(COMPANY), issuerOf('{tenantid}')]) {
        const { location, stop } = await signInAs(COMPANY, issuer);
        expect(location).toBe('/done');
        await stop();
      }
    });

    test('rejects the key of personal accounts for a company, also at a refresh', async () => {
      const forged = await signInAs(COMPANY, issuerOf(PERSONAL));
      expect(forged.location).toBe('/done?error=provider_error');
      await forged.stop();
      const { refresh, stop } = await signInAs(PERSONAL, issuerOf(PERSONAL));
      provider.lies = { ...provider.lies, claims: { iss: issuerOf(COMPANY), tid: COMPANY } };
      expectProblem(await refresh(), 409, 'relink_required');
      await stop();
    });
  });

  test('rejects the same subject of another tenant at a refresh', async () => {
    const browser = app.browser();
    await signIn(browser, COMPANY);
    const refresh = () => browser.post('/auth/oauth/microsoft/tokens/refresh');
    await refresh().expect(200);
    provider.lies = { ...provider.lies, claims: { iss: issuerOf(PERSONAL), tid: PERSONAL } };
    expectProblem(await refresh(), 409, 'relink_required');
  });

  test.each([
    ['organizations', COMPANY, PERSONAL],
    ['consumers', PERSONAL, COMPANY],
    ['Organizations', COMPANY, PERSONAL],
  ])('with %s, accepts accounts of such a tenant only', async (tenant, right, wrong) => {
    const other = await startOAuthApp({ providers: () => [microsoft({ ...client, tenant })] });
    const location = async (tid: string) => {
      await signIn(app.browser(), tid);
      return (await signInWith(other.browser(), 'microsoft')).headers.location;
    };
    expect(await location(right)).toBe('/done');
    expect(await location(wrong)).toBe('/done?error=provider_error');
    expect(other.log.join('\n')).toContain(`the account is not one of the tenant ${tenant.toLowerCase()}`);
    await other.stop();
  });

  test.each(['', '../evil', 'contoso.onmicrosoft.com', `${COMPANY}/..`])(
    'rejects the tenant "%s", which is no id',
    async (tenant) => {
      const response = await signIn(app.browser(), tenant);
      expect(response.headers.location).toBe('/done?error=provider_error');
      expect(await rows(app.database, 'SELECT issuer FROM accounts')).toEqual([]);
    },
  );

  test('rejects an ID token if tenant and issuer do not match', async () => {
    const response = await signIn(app.browser(), COMPANY, { tid: 'another' });
    expect(response.headers.location).toBe('/done?error=provider_error');
  });
});
