import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { altcha, hcaptcha, turnstile } from '../../lib/human-check.js';
import { type AuthConfig, emailSignIn, oauth } from '../../lib/index.js';
import { CSP } from '../../lib/pages/serve.js';
import { ada, password } from '../support/app.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { solved } from '../support/human.js';
import { type PageBrowser, Shown } from '../support/page-browser.js';
import { type PagesApp, startPagesApp } from '../support/pages-app.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type Check = NonNullable<AuthConfig['humanCheck']>;

const plugins = () => [password(), emailSignIn({ signUp: true }), oauth(), fixedProvider()] as const;

async function start(humanCheck: Check, more: Partial<AuthConfig<never>> = {}) {
  const app = await startPagesApp(plugins(), { config: { humanCheck, ...more } as never });
  ends.push(app.stop);
  return app;
}

/** What the box of a form says, by the last part of the form's path. */
function boxesOf(shown: Shown): Record<string, { kind: string; for: string[] }> {
  const found = [...shown.body.matchAll(/<form[^>]*action="([^"]*)"[\s\S]*?<\/form>/g)].flatMap(
    ([form, action = '']) => {
      const [, json] = /data-human="([^"]*)"/.exec(form) ?? [];
      return json ? [[action.split('/').at(-1), JSON.parse(json.replaceAll('&quot;', '"'))]] : [];
    },
  );
  return Object.fromEntries(found);
}

const policyOf = (shown: Shown) => String(shown.headers['content-security-policy']);
const hasScript = (shown: Shown) => /assets\/human\.[0-9a-f]+\.js/.test(shown.body);

describe('with altcha()', () => {
  let app: PagesApp<ReturnType<typeof plugins>>;
  let browser: PageBrowser;
  beforeAll(async () => {
    app = await startPagesApp(plugins(), { config: { humanCheck: altcha({ cost: 100 }) } });
    browser = app.open();
  });
  afterAll(() => app.stop());

  test('each form of a checked route has the widget, which needs a worker and nothing else', async () => {
    const expected = {
      '/auth/sign-up': { password: ['sign-up/password', 'sign-up/send-code'] },
      // Its other button signs in with a password, which is not checked.
      '/auth/sign-in': { password: ['sign-in/send-code'] },
      '/auth/forgot-password': { send: ['forgot-password/send'] },
    };
    for (const [path, forms] of Object.entries(expected)) {
      const shown = await browser.open(path);
      const boxes = Object.entries(boxesOf(shown)).map(([name, { kind, for: actions }]) => {
        expect(kind).toBe('altcha');
        return [name, actions.map((action) => action.replace('/auth/', ''))];
      });
      expect([path, Object.fromEntries(boxes)]).toEqual([path, forms]);
      expect(policyOf(shown)).toBe(`${CSP}; worker-src 'self'`);
      expect(hasScript(shown)).toBe(true);
    }
  });

  test('other pages have neither the script nor its policy', async () => {
    for (const path of ['/auth/invitation?token=x', '/auth/sign-out', '/auth/reset-password?token=x']) {
      const shown = await browser.open(path);
      expect([policyOf(shown), hasScript(shown), boxesOf(shown)]).toEqual([CSP, false, {}]);
    }
  });

  test('without JavaScript, the page of the sign-in also names the sign-in methods that need no check', async () => {
    const why =
      'This browser cannot be checked, because it runs no scripts. Turn on JavaScript, then reload this page.';
    const said = (text: string) => `<noscript><p data-part="warning">${text}</p></noscript>`;
    const signIn = await browser.open('/auth/sign-in');
    expect(signIn.body).toContain(said(`${why} You can still sign in with your password or Fixed.`));
    // They create no account and no new password.
    for (const path of ['/auth/sign-up', '/auth/forgot-password'])
      expect((await browser.open(path)).body).toContain(said(why));
  });

  test('without JavaScript, a form is rejected with what to do; with it, the user tries again', async () => {
    const values = { email: 'new@example.com', password: ada.password };
    const refused = await post('/auth/sign-up/password', values);
    expect([refused.status, new Shown('', 403, {}, refused.text).error]).toEqual([
      403,
      'There is a problem We could not confirm that a person has sent this. Turn on JavaScript, reload this page, and try again.',
    ]);
    for (const sent of [
      post('/auth/sign-up/password', values).set('latchkey-form', '1'),
      post('/auth/sign-up/password', { ...values, human_token: 'wrong' }),
    ])
      expect((await sent).text).toContain('We could not confirm that a person has sent this. Try again.');
  });

  test('a form with a token is accepted once; without one, the page keeps what was typed', async () => {
    const values = { email: 'new@example.com', password: ada.password };
    const refused = await browser.submit(await browser.open('/auth/sign-up'), 'password', values);
    expect(refused.status).toBe(403);
    expect(refused.error).toContain('We could not confirm that a person has sent this.');
    expect(refused.form('password').value('email')).toBe('new@example.com');
    expect(policyOf(refused)).toBe(`${CSP}; worker-src 'self'`);
    const token = await solved(app as never);
    const send = (email: string) => post('/auth/sign-up/password', { ...values, email, human_token: token });
    expect((await send('new@example.com')).status).toBe(303);
    expect((await send('other@example.com')).status).toBe(403);
  });

  test('both buttons of a form take the token, whether or not they need it', async () => {
    await app.auth.credential.signUp(ada);
    const human_token = await solved(app as never);
    const byPassword = { credential: ada.email, password: ada.password, human_token };
    expect((await post('/auth/sign-in/password', byPassword)).status).toBe(303);
    const byCode = { credential: ada.email, human_token };
    expect((await post('/auth/sign-in/send-code', byCode)).headers.location).toContain('/auth/sign-in/email');
  });

  const post = (path: string, fields: Record<string, string>) =>
    app.http.post(path).type('form').set('origin', 'http://localhost').send(fields);
});

describe('the policy', () => {
  test('names the origin of Turnstile', async () => {
    const app = await start(turnstile({ siteKey: 'site-key', secret: 'secret' }));
    const shown = await app.open().open('/auth/sign-up');
    const origin = 'https://challenges.cloudflare.com';
    expect(policyOf(shown)).toBe(
      `${CSP.replace("script-src 'self'", `script-src 'self' ${origin}`)}; frame-src ${origin}`,
    );
    expect(boxesOf(shown).password).toMatchObject({ kind: 'turnstile', siteKey: 'site-key' });
    expect(policyOf(await app.open().open('/auth/sign-out'))).toBe(CSP);
  });

  test('names the origins of hCaptcha', async () => {
    const app = await start(hcaptcha({ siteKey: 'site-key', secret: 'secret' }));
    const policy = policyOf(await app.open().open('/auth/forgot-password'));
    for (const directive of ['script-src', 'style-src', 'connect-src'])
      expect(policy).toContain(`${directive} 'self' https://hcaptcha.com https://*.hcaptcha.com;`);
    expect(policy).toMatch(/frame-src https:\/\/hcaptcha.com https:\/\/\*\.hcaptcha.com$/);
  });

  test('is the usual one if the app checks in its own way', async () => {
    const app = await start({ verify: () => true });
    const shown = await app.open().open('/auth/sign-up');
    expect([policyOf(shown), hasScript(shown), boxesOf(shown)]).toEqual([CSP, false, {}]);
  });
});

test('if every other way in is checked too, the page asks to turn on JavaScript', async () => {
  const routes = ['signup/credential', 'signin/credential'] as const;
  const app = await startPagesApp([password()], { config: { humanCheck: altcha({ routes }) } });
  ends.push(app.stop);
  expect((await app.open().open('/auth/sign-in')).body).toContain(
    'because it runs no scripts. Turn on JavaScript, then reload this page.',
  );
});
