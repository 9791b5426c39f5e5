import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import * as modules from '../../../../lib/providers.js';
import { rows } from '../../../support/database.js';
import { type LyingProvider, newRsaKeys, startLyingProvider } from '../../../support/lying-provider.js';
import { type Browser, begin, type OAuthApp, signInWith, startOAuthApp } from '../../../support/oauth-app.js';
import { visitProvider } from '../../../support/oidc.js';
import { PRESETS, type TokenAnswer } from '../../../support/presets.js';
import { expectProblem } from '../../../support/problem.js';

// Every module, as its provider says that a grant has ended, that it refuses the app, or that it cannot answer.

test('every module has a row', () => {
  const { default: _, ...all } = modules as typeof modules & { default?: unknown };
  expect(Object.keys(PRESETS).sort()).toEqual(Object.keys(all).sort());
});

describe.each(Object.entries(PRESETS))('%s', (id, preset) => {
  let app: OAuthApp;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = id === 'apple' ? await startLyingProvider(newRsaKeys()) : await startLyingProvider();
    app = await startOAuthApp({ providers: () => [preset.plugin(provider.issuer)] });
  });
  afterEach(async () => {
    await rows(app.database, 'DELETE FROM users');
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  /** Goes through a sign-in. @returns the page where it ends */
  const travel = async (browser: Browser) => {
    // Facebook's own fragment is removed.
    if (id !== 'apple') return (await signInWith(browser, id)).headers.location?.replace(/#$/, '');
    const start = await begin(browser, '/auth/oauth/apple/authorize?callback_url=/done');
    const back = new URL(await visitProvider(start));
    const posted = await app.http.post(back.pathname).type('form').send(back.searchParams.toString());
    return (await browser.get(posted.headers.location ?? '')).headers.location;
  };
  const signIn = async () => {
    provider.lies = preset.lies;
    const browser = app.browser();
    expect(await travel(browser)).toBe('/done');
    app.log.length = 0;
    return browser;
  };
  const answering = ({ status, body }: TokenAnswer) => {
    const token = (_req: IncomingMessage, res: ServerResponse) =>
      void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    provider.lies = { ...preset.lies, answers: { token } };
  };
  const refresh = (browser: Browser) => browser.post(`/auth/oauth/${id}/tokens/refresh`);
  const ended = (['expired', 'revoked', 'reused'] as const).flatMap((how) => {
    const { [how]: given } = preset;
    return given ? [[how, given] as const] : [];
  });

  test('a person who cancels has cancelled', async () => {
    const response = { ...preset.lies.response, code: undefined, error: preset.denied };
    provider.lies = { ...preset.lies, response };
    app.log.length = 0;
    expect(await travel(app.browser())).toBe('/done?error=access_denied');
    expect(app.log).toEqual([]);
  });

  if (ended.length === 0)
    test('there is nothing to refresh', async () => {
      expectProblem(await refresh(await signIn()), 409, 'refresh_token_missing');
    });
  else
    test.each(ended)('a grant that has ended asks for another link: %s', async (_how, given) => {
      const browser = await signIn();
      answering(given);
      for (let times = 0; times < 2; times++) expectProblem(await refresh(browser), 409, 'relink_required');
      expect(app.log).toEqual([]);
      const [account] = await rows<{ relink_required: unknown }>(
        app.database,
        'SELECT relink_required FROM accounts',
      );
      expect(Boolean(Number(account?.relink_required))).toBe(true);
    });

  const down = { status: 503, body: { message: 'Service unavailable' } };
  if (ended.length > 0)
    test.each([
      ['limits requests', preset.limited],
      ['is down', down],
      ['refuses the secret', preset.wrongSecret],
    ])('a provider that %s loses no tokens', async (_how, given) => {
      const browser = await signIn();
      answering(given);
      expectProblem(await refresh(browser), 502, 'provider_error');
      provider.lies = preset.lies;
      await refresh(browser).expect(200);
    });

  test('a wrong secret is named in the log', async () => {
    answering(preset.wrongSecret);
    app.log.length = 0;
    expect(await travel(app.browser())).toBe('/done?error=provider_error');
    expect(app.log.join('\n')).toContain(`it responded with the error ${preset.inLog}`);
  });

  test('a provider that cannot answer a sign-in is to blame', async () => {
    for (const given of [preset.limited, down]) {
      answering(given);
      expect(await travel(app.browser())).toBe('/done?error=provider_error');
    }
  });
});
