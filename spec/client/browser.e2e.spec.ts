/// <reference lib="dom" />
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { addAuthenticator } from '../pages/browser/authenticator.js';
import { inBrowser, specBrowser } from '../pages/browser/browser.js';
import { inFirefox as describeFirefox, specFirefox } from '../pages/browser/firefox.js';
import { proveMailbox } from '../support/email-proof.js';
import { type ClientPage, inChromium, inFirefox } from './client-page.js';
import type { InPage } from './in-page.js';
import { ADMINISTRATORS, startStoryApp } from './story-app.js';

declare const inPage: InPage;

const person = { email: 'alan@example.com', password: 'on computable numbers' };
const credentials = { credential: person.email, password: person.password };

/** Starts an app whose `/page` has a client, for a part of this file. */
function specApp() {
  let app: Awaited<ReturnType<typeof startStoryApp>>;

  beforeAll(async () => {
    app = await startStoryApp();
    // As an app does it that loads parts of the client when it needs them.
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('in-page.ts', import.meta.url))],
      bundle: true,
      splitting: true,
      write: false,
      format: 'esm',
      outdir: '/scripts',
    });
    for (const { path, text } of outputFiles)
      app.app.get(`/scripts/${basename(path)}`, (_req, res) => void res.type('js').send(text));
    app.app.get('/page', (_req, res) => {
      res.set('Content-Security-Policy', "script-src 'self'");
      res.send(
        '<!doctype html><title>App</title><script type="module" src="/scripts/in-page.js"></script><input autocomplete="webauthn">',
      );
    });
    const { id } = await app.auth.users.create({ ...person, emailVerified: true });
    await proveMailbox(app.auth, id);
  });
  afterAll(() => app?.stop());

  return {
    get auth() {
      return app.auth;
    },
    get page() {
      return `${app.origin}/page`;
    },
  };
}

const signIn = (page: Pick<ClientPage, 'evaluate'>) =>
  page.evaluate((given) => inPage.client.credential.signIn(given), credentials);

/** The tests that every browser passes. */
function testClient(open: () => Promise<ClientPage>): void {
  /** Subscribes to the session, and shows its status in the page. */
  async function show(page: ClientPage): Promise<void> {
    await page.evaluate(() => {
      const { session } = inPage.client;
      session.subscribe(() => {
        document.documentElement.dataset.status = session.get().status;
      });
    });
  }

  const shows = (page: ClientPage, status: string) => page.has(`html[data-status="${status}"]`);

  test('calls every method of a real server, with cookies and passkeys', async () => {
    const page = await open();
    await page.addAuthenticator();
    await page.evaluate((email) => inPage.runStory(email), ADMINISTRATORS[1] ?? '');
  });

  test('does so in a browser that does not convert passkeys from and to JSON', async () => {
    const page = await open();
    await page.reloadAfter(() => {
      const helpers = ['parseCreationOptionsFromJSON', 'parseRequestOptionsFromJSON'] as const;
      for (const helper of helpers) Reflect.deleteProperty(PublicKeyCredential, helper);
      Reflect.deleteProperty(PublicKeyCredential.prototype, 'toJSON');
    });
    expect(await page.evaluate(() => 'toJSON' in PublicKeyCredential.prototype)).toBe(false);
    await page.addAuthenticator();
    await page.evaluate((email) => inPage.runStory(email), ADMINISTRATORS[2] ?? '');
  });

  test('signs out two tabs together, and signs them in', async () => {
    const page = await open();
    const other = await page.tab();
    await show(page);
    await show(other);
    await shows(page, 'signed_out');
    await shows(other, 'signed_out');
    await signIn(page);
    await shows(page, 'signed_in');
    await shows(other, 'signed_in');
    await other.evaluate(() => inPage.client.signOut());
    await shows(page, 'signed_out');
    await shows(other, 'signed_out');
  });

  test('tells other tabs without a subscriber of its own', async () => {
    const page = await open();
    const other = await page.tab();
    await show(other);
    await shows(other, 'signed_out');
    await signIn(page);
    await shows(other, 'signed_in');
  });

  test('asks again when the page becomes visible, at most once a minute', async () => {
    const page = await open();
    const asked = await page.evaluate(async () => {
      const { session } = inPage.client;
      const { fetch } = globalThis;
      const responses: Promise<Response>[] = [];
      globalThis.fetch = (...given) => {
        const response = fetch(...given);
        responses.push(response);
        return response;
      };
      const becomeVisible = () => document.dispatchEvent(new Event('visibilitychange'));
      await new Promise<void>((resolve) => session.subscribe(resolve));
      becomeVisible();
      const counts = [responses.length];
      const { now } = Date;
      Date.now = () => now() + 61_000;
      becomeVisible();
      counts.push(responses.length);
      becomeVisible();
      await session.refresh();
      counts.push(responses.length);
      return [document.visibilityState, ...counts];
    });
    expect(asked).toEqual(['visible', 1, 2, 3]);
  });

  test('a ceremony takes the place of one that waits for autofill', async () => {
    const page = await open();
    await page.addAuthenticator();
    const outcomes = await page.evaluate(async () => {
      const { passkeys } = inPage.client;
      const controller = new AbortController();
      const asked = new Promise<void>((resolve) => {
        const { get } = navigator.credentials;
        navigator.credentials.get = (given) => {
          resolve();
          return get.call(navigator.credentials, given);
        };
      });
      const first = passkeys.signIn({ autofill: true });
      await asked;
      const second = passkeys
        .signIn({ autofill: true }, { signal: controller.signal })
        .catch((error) => error.message);
      const { error } = await first;
      controller.abort(new Error('the page was left'));
      return [error?.code, await second];
    });
    expect(outcomes).toEqual(['passkey_canceled', 'the page was left']);
  });

  test('says what is wrong with a passkey', async () => {
    const page = await open();
    await page.addAuthenticator();
    await signIn(page);
    await page.evaluate(() => inPage.client.passkeys.create());
    const again = await page.evaluate(() => inPage.client.passkeys.create());
    expect(again.error).toMatchObject({ status: 0, code: 'passkey_exists' });
    await page.evaluate(() => void Object.defineProperty(navigator, 'credentials', { value: undefined }));
    const without = await page.evaluate(() => inPage.client.passkeys.create());
    expect(without.error).toMatchObject({ status: 0, code: 'passkey_unavailable' });
  });
}

inBrowser('the client in Chromium', () => {
  const browser = specBrowser();
  const app = specApp();
  const open = () => browser.open(app.page);
  testClient(async () => inChromium(await open()));

  test('a passkey is offered in the list of an input', async () => {
    const page = await open();
    await addAuthenticator(page);
    await signIn(inChromium(page));
    const created = await page.evaluate(() => inPage.client.passkeys.create());
    expect(created.error).toBeNull();
    await page.evaluate(() => inPage.client.signOut());
    const signedIn = await page.evaluate(() => inPage.client.passkeys.signIn({ autofill: true }));
    expect(signedIn.data).toMatchObject({ step: 'done', user: { email: person.email } });
  });

  test('a browser forgets a passkey that the account no longer has', async () => {
    const page = await open();
    const device = await addAuthenticator(page);
    await signIn(inChromium(page));
    const { data } = await page.evaluate(() => inPage.client.passkeys.create());
    await page.evaluate((id) => inPage.client.passkeys.remove(id), String(data?.passkey.id));
    expect(await device.count()).toBe(1);
    const user = await app.auth.users.find({ email: person.email });
    await app.auth.endUndo(String(user?.id));
    const forgotten = device.nextDeletion();
    await page.evaluate(() => inPage.client.passkeys.list());
    await forgotten;
    expect(await device.count()).toBe(0);
  });
});

describeFirefox('the client in Firefox', () => {
  const firefox = specFirefox(true, true);
  const app = specApp();
  testClient(async () => inFirefox(await firefox.openDriven(app.page)));
});
