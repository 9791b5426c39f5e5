/// <reference lib="dom" />
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { addAuthenticator } from '../pages/browser/authenticator.js';
import { inBrowser, specBrowser } from '../pages/browser/browser.js';
import { proveMailbox } from '../support/email-proof.js';
import type { InPage } from './in-page.js';
import { ADMINISTRATORS, startStoryApp } from './story-app.js';

declare const inPage: InPage;

const person = { email: 'alan@example.com', password: 'on computable numbers' };
const credentials = { credential: person.email, password: person.password };

inBrowser('the client in a browser', () => {
  const browser = specBrowser();
  let app: Awaited<ReturnType<typeof startStoryApp>>;

  beforeAll(async () => {
    app = await startStoryApp();
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('in-page.ts', import.meta.url))],
      bundle: true,
      write: false,
      format: 'iife',
    });
    app.app.get('/client.js', (_req, res) => void res.type('js').send(outputFiles[0]?.text));
    app.app.get('/page', (_req, res) => {
      res.send(
        '<!doctype html><title>App</title><script src="/client.js"></script><input autocomplete="webauthn">',
      );
    });
    const { id } = await app.auth.users.create({ ...person, emailVerified: true });
    await proveMailbox(app.auth, id);
  });
  afterAll(() => app?.stop());

  const open = () => browser.open(`${app.origin}/page`);

  /** A second tab in the same browser. */
  async function tabOf(page: Page): Promise<Page> {
    const tab = await page.context().newPage();
    await tab.goto(`${app.origin}/page`);
    return tab;
  }

  /** Subscribes to the session, and shows its status and how often it was asked for in the page. */
  async function show(page: Page): Promise<void> {
    await page.evaluate(() => {
      const { session } = inPage.client;
      session.subscribe(() => {
        document.documentElement.dataset.status = session.get().status;
      });
    });
  }

  const shows = (page: Page, status: string) =>
    page.locator(`html[data-status="${status}"]`).waitFor({ state: 'attached' });

  const signIn = (page: Page) =>
    page.evaluate((given) => inPage.client.credential.signIn(given), credentials);

  test('calls every method of a real server, with cookies and passkeys', async () => {
    const page = await open();
    await addAuthenticator(page);
    await page.evaluate((email) => inPage.runStory(email), ADMINISTRATORS[1] ?? '');
  });

  test('does so in a browser that does not convert passkeys from and to JSON', async () => {
    const page = await open();
    await page.addInitScript(() => {
      const helpers = ['parseCreationOptionsFromJSON', 'parseRequestOptionsFromJSON'] as const;
      for (const helper of helpers) Reflect.deleteProperty(PublicKeyCredential, helper);
      Reflect.deleteProperty(PublicKeyCredential.prototype, 'toJSON');
    });
    await page.reload();
    expect(await page.evaluate(() => 'toJSON' in PublicKeyCredential.prototype)).toBe(false);
    await addAuthenticator(page);
    await page.evaluate((email) => inPage.runStory(email), ADMINISTRATORS[2] ?? '');
  });

  test('signs out two tabs together, and signs them in', async () => {
    const page = await open();
    const other = await tabOf(page);
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
    const other = await tabOf(page);
    await show(other);
    await shows(other, 'signed_out');
    await signIn(page);
    await shows(other, 'signed_in');
  });

  test('asks again when the page becomes visible, at most once a minute', async () => {
    const page = await open();
    await page.clock.install();
    await page.reload();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/auth/me')) asked++;
    });
    await show(page);
    await shows(page, 'signed_out');
    const becomeVisible = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await becomeVisible();
    await page.clock.fastForward(61_000);
    const next = page.waitForResponse((response) => response.url().endsWith('/auth/me'));
    await becomeVisible();
    await next;
    await becomeVisible();
    await page.evaluate(() => inPage.client.session.refresh());
    expect(asked).toBe(3);
  });

  test('a passkey is offered in the list of an input, until another ceremony takes its place', async () => {
    const page = await open();
    const device = await addAuthenticator(page);
    await signIn(page);
    const created = await page.evaluate(() => inPage.client.passkeys.create());
    expect(created.error).toBeNull();
    await page.evaluate(() => inPage.client.signOut());
    const signedIn = await page.evaluate(() => inPage.client.passkeys.signIn({ autofill: true }));
    expect(signedIn.data).toMatchObject({ step: 'done', user: { email: person.email } });

    await device.confirms(false);
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
      const second = passkeys.signIn({}, { signal: controller.signal }).catch((error) => error.message);
      const { error } = await first;
      controller.abort(new Error('the page was left'));
      return [error?.code, await second];
    });
    expect(outcomes).toEqual(['passkey_canceled', 'the page was left']);
  });

  test('a browser forgets a passkey that the account no longer has', async () => {
    const page = await open();
    const device = await addAuthenticator(page);
    await signIn(page);
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

  test('says what is wrong with a passkey', async () => {
    const page = await open();
    await addAuthenticator(page);
    await signIn(page);
    await page.evaluate(() => inPage.client.passkeys.create());
    const again = await page.evaluate(() => inPage.client.passkeys.create());
    expect(again.error).toMatchObject({ status: 0, code: 'passkey_exists' });
    await page.evaluate(() => Object.defineProperty(navigator, 'credentials', { value: undefined }));
    const without = await page.evaluate(() => inPage.client.passkeys.create());
    expect(without.error).toMatchObject({ status: 0, code: 'passkey_unavailable' });
  });
});
