import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { codeOf, forgetSteps } from '../../support/two-factor.js';
import { addAuthenticator, leaveList, useButtonsOnly } from './authenticator.js';
import {
  card,
  field,
  fill,
  follow,
  inBrowser,
  openCard,
  press,
  says,
  showsPage,
  specBrowser,
} from './browser.js';
import { type OwnApp, type Person, startOwnApp } from './own-app.js';
import { secretOn } from './states.js';

inBrowser('passkeys on the pages', () => {
  const browser = specBrowser();
  let app: OwnApp;

  beforeAll(async () => {
    app = await startOwnApp({ twoFactor: { trustDevices: { days: 30 } } });
  });
  afterAll(() => app?.stop());

  /** A new account, on a device that confirms whatever a page asks for. */
  async function withDevice(name: string, path = '/auth/account/security') {
    const person = await app.createPerson(`${name}@example.com`);
    const page = await browser.open(app.url('/notes'));
    const device = await addAuthenticator(page);
    await app.signIn(page, person, path);
    return { person, page, device };
  }

  async function withPasskey(name: string) {
    const opened = await withDevice(name);
    await addPasskey(opened.page);
    return opened;
  }

  async function addPasskey(page: Page): Promise<void> {
    await page.goto(app.url('/auth/account/security#passkeys'));
    await press(page, 'Add a passkey');
    await says(page, 'status', 'The passkey was added.');
  }

  async function removePasskey(page: Page): Promise<void> {
    await openCard(page, 'Passkeys');
    await card(page, 'Passkeys').locator('summary').getByText('Change').filter({ visible: true }).click();
    await card(page, 'Passkeys').locator('summary').getByText('Remove').filter({ visible: true }).click();
    await press(page, 'Yes, remove Passkey');
    await says(page, 'status', 'The passkey was removed.');
  }

  const idOf = async ({ email }: Person) => {
    const user = await app.auth.users.find({ email });
    if (!user) throw new Error(`there is no ${email}`);
    return user.id;
  };

  /** Waits until a page has signalled to the browser that it accepts this number of passkeys, and reloads it before. */
  async function signals(page: Page, count: number): Promise<void> {
    await page.addInitScript(() => {
      const { signalAllAcceptedCredentials: send } = PublicKeyCredential;
      PublicKeyCredential.signalAllAcceptedCredentials = async (facts) => {
        await send.call(PublicKeyCredential, facts);
        document.documentElement.dataset.accepted = `${facts.allAcceptedCredentialIds.length}`;
      };
    });
    await page.reload();
    await page.locator(`html[data-accepted="${count}"]`).waitFor({ state: 'attached' });
  }

  /** Ends the session of a page. */
  const signOut = (page: Page) => page.context().clearCookies({ name: /^latchkey$/ });

  test('a passkey is renamed and removed, and another one can be added', async () => {
    const { page } = await withPasskey('ada');
    const passkeys = card(page, 'Passkeys');
    const change = async () => {
      await openCard(page, 'Passkeys');
      await passkeys.locator('summary').getByText('Change').filter({ visible: true }).click();
    };
    await change();
    await fill(page, 'Name', 'My phone');
    await press(page, /^Rename /);
    await says(page, 'status', 'Your changes are saved.');
    await change();
    await passkeys.locator('summary').getByText('Remove').filter({ visible: true }).click();
    await press(page, 'Yes, remove My phone');
    await says(page, 'status', 'The passkey was removed.');
    await addPasskey(page);
    // The address of the page stays the same, except for what is after the `#`.
    await addAuthenticator(page, 'usb');
    await openCard(page, 'Passkeys');
    await press(page, 'Add a passkey');
    await passkeys.getByText('2 passkeys.').waitFor();
  });

  test('the list at the field gets a new challenge before the server forgets the first one', async () => {
    const page = await browser.open(app.url('/auth/forgot-password'));
    await addAuthenticator(page);
    await page.clock.install();
    const challenge = async () => {
      const fetched = await page.waitForResponse(/\/signin\/passkey\/options$/);
      return (await fetched.json()).options.challenge;
    };
    const asked = challenge();
    await page.goto(app.url('/auth/sign-in'));
    const first = await asked;
    const askedAgain = challenge();
    await page.clock.fastForward('04:00');
    expect(await askedAgain).not.toBe(first);
  });

  test('the browser signs in with a passkey from the list at the field', async () => {
    const { page, person } = await withPasskey('grace');
    await signOut(page);
    await page.goto(app.url('/auth/sign-in'));
    await showsPage(page, `Notes of ${person.email}`);
  });

  test('without a network, the page says so in its own words', async () => {
    const { page } = await withDevice('edith');
    await page.route('**/passkeys/options', (route) => route.abort());
    await press(page, 'Add a passkey');
    await says(page, 'alert', 'This did not work. Check the network, and try again.');
  });

  test('as long as no passkey is chosen, the password works', async () => {
    const { page, person, device } = await withPasskey('alan');
    await signOut(page);
    await device.confirms(false);
    await page.goto(app.url('/auth/sign-in'));
    await fill(page, 'Email or username', person.email);
    await fill(page, 'Password', person.password);
    await press(page, 'Sign in');
    await showsPage(page, `Notes of ${person.email}`);
  });

  test('a browser without the functions for JSON converts what passkeys need itself', async () => {
    const { page, person } = await withDevice('edsger', '/notes');
    await page.addInitScript(() => {
      const { prototype, ...statics } = PublicKeyCredential as unknown as Record<string, object>;
      for (const name of ['parseCreationOptionsFromJSON', 'parseRequestOptionsFromJSON'])
        Object.defineProperty(PublicKeyCredential, name, { value: undefined });
      Object.defineProperty(prototype ?? statics, 'toJSON', { value: undefined });
    });
    await page.goto(app.url('/auth/account/security'));
    await addPasskey(page);
    // The list of the passkeys that exist is converted too.
    await openCard(page, 'Passkeys');
    await press(page, 'Add a passkey');
    await says(page, 'alert', 'This device already has a passkey for your account.');
    await signOut(page);
    await page.goto(app.url('/auth/sign-in'));
    await showsPage(page, `Notes of ${person.email}`);
  });

  test('a browser without passkeys offers none', async () => {
    const { page } = await withDevice('lynx', '/notes');
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'PublicKeyCredential'));
    await page.goto(app.url('/auth/account/security'));
    await page.getByText('Passkeys need JavaScript and a browser that supports them.').waitFor();
    expect(await page.getByRole('button', { name: 'Add a passkey' }).isVisible()).toBe(false);
    await signOut(page);
    await page.goto(app.url('/auth/sign-in'));
    await page.getByRole('button', { name: 'Show Password' }).waitFor();
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible()).toBe(false);
  });

  test('a passkey that does not exist is an error beside the button', async () => {
    const page = await browser.open(app.url('/auth/forgot-password'));
    await addAuthenticator(page);
    await page.goto(app.url('/auth/sign-in'));
    await press(page, 'Sign in with a passkey');
    await says(page, 'alert', 'No passkey was used.');
  });

  test('after a passkey was refused, the list at the field offers them again', async () => {
    const page = await browser.open(app.url('/auth/forgot-password'));
    await addAuthenticator(page);
    const asked = () => page.waitForResponse(/\/signin\/passkey\/options$/);
    const first = asked();
    await page.goto(app.url('/auth/sign-in'));
    await first;
    const again = asked();
    await press(page, 'Sign in with a passkey');
    await says(page, 'alert', 'No passkey was used.');
    // The button used the options that were there, and the list gets new ones.
    await again;
  });

  test('the button uses the options that were fetched before it was pressed', async () => {
    const { page, person } = await withPasskey('fran');
    const listed = await leaveList(page);
    await signOut(page);
    await page.goto(app.url('/auth/sign-in'));
    await listed();
    const paths: string[] = [];
    page.on('request', (request) => paths.push(new URL(request.url()).pathname));
    await press(page, 'Sign in with a passkey');
    await showsPage(page, `Notes of ${person.email}`);
    expect(paths).not.toContain('/auth/signin/passkey/options');
  });

  test('a browser is told once nothing can restore a passkey that was removed', async () => {
    const { page, person, device } = await withPasskey('radia');
    await removePasskey(page);
    // The link of the notice can restore it, so the page has told the browser to keep it.
    await signals(page, 1);
    expect(await device.count()).toBe(1);
    await app.auth.endUndo(await idOf(person));
    const deleted = device.nextDeletion();
    await page.reload();
    await deleted;
    expect(await device.count()).toBe(0);
  });

  test('a browser is told of a passkey that no account has when it signs in with it', async () => {
    const { page, person, device } = await withPasskey('joan');
    await signOut(page);
    const id = await idOf(person);
    await page.goto(app.url('/notes'));
    await app.auth.users.delete(id);
    const deleted = device.nextDeletion();
    await page.goto(app.url('/auth/sign-in'));
    await deleted;
    expect(await device.count()).toBe(0);
    await showsPage(page, 'Sign in to Notes');
  });

  test.each([
    ['list at the field', false],
    ['button', true],
  ])('a passkey from the %s that the server refuses is an error', async (_place, byButton) => {
    for (const [name, message] of [
      ['suspended', /suspended/],
      [
        'removed',
        'This passkey no longer belongs to an account here, or too much time has passed. Try again, or sign in another way.',
      ],
    ] as const) {
      const { page, person, device } = await withPasskey(`${name}-${byButton}`);
      // A link can restore it, so the browser keeps it.
      if (name === 'removed') await removePasskey(page);
      const listed = byButton ? await leaveList(page) : undefined;
      // No page on the way signs in with it.
      await device.confirms(false);
      await signOut(page);
      await page.goto(app.url('/auth/forgot-password'));
      if (name === 'suspended') await app.auth.suspension.suspend(await idOf(person));
      await device.confirms(true);
      // The device chooses the passkey again by itself, so it is offered only once.
      let asked = 0;
      await page.route(/\/signin\/passkey\/options$/, (route) =>
        asked++ === 0 ? route.continue() : route.abort(),
      );
      await page.goto(app.url('/auth/sign-in'));
      if (listed) {
        await listed();
        await press(page, 'Sign in with a passkey');
      }
      await says(page, 'alert', message);
    }
  });

  test('after a sign-in with a password, a passkey is offered once', async () => {
    const { page, person } = await withDevice('hedy', '/notes');
    for (const offered of [true, false]) {
      await signOut(page);
      await page.goto(app.url('/auth/sign-in'));
      await page.locator('[name="can_create_passkey"]').waitFor({ state: 'attached' });
      await fill(page, 'Email or username', person.email);
      await fill(page, 'Password', person.password);
      await press(page, 'Sign in');
      if (!offered) break;
      await showsPage(page, 'Sign in without a password next time');
      await page.getByRole('link', { name: 'Not now' }).click();
      await showsPage(page, `Notes of ${person.email}`);
    }
    await showsPage(page, `Notes of ${person.email}`);
  });

  test('a passkey completes a sign-in, and confirms that it is the user', async () => {
    const { page, person, device } = await withPasskey('barbara');
    await press(page, 'Set up an authenticator app');
    await fill(page, 'Code from the app', codeOf(await secretOn(page)));
    await showsPage(page, 'Save your recovery codes');
    await forgetSteps(app);
    await signOut(page);
    const enterPassword = async () => {
      await device.confirms(false);
      await page.goto(app.url('/auth/sign-in'));
      await fill(page, 'Email or username', person.email);
      await fill(page, 'Password', person.password);
      await press(page, 'Sign in');
    };
    await enterPassword();
    await showsPage(page, 'Confirm that it is you');
    await device.confirms(true);
    await page.getByLabel("Don't ask again in this browser for 30 days").check();
    await press(page, 'Use a passkey');
    await showsPage(page, `Notes of ${person.email}`);
    await signOut(page);
    await enterPassword();
    await showsPage(page, `Notes of ${person.email}`);
    await device.confirms(true);
    await app.letSignInsAge();
    await page.goto(app.url('/auth/reauthenticate?return_to=/auth/account/api-keys'));
    await press(page, 'Use a passkey');
    await showsPage(page, 'API keys');
    expect(await field(page, 'Current password').count()).toBe(0);
  });

  test('a passkey that was not added is told in words of its own', async () => {
    const page = await browser.open(app.url('/notes'));
    await app.signIn(page, await app.createPerson('jean@example.com'), '/auth/account/security');
    await page.evaluate(() => {
      // What a browser does if the user cancels its dialog.
      navigator.credentials.create = () => Promise.reject(new DOMException('canceled', 'NotAllowedError'));
    });
    await press(page, 'Add a passkey');
    await says(page, 'alert', 'No passkey was added. The request was canceled, or took too long.');
  });

  test('passkeys become the second step, with recovery codes, and stop being it', async () => {
    const { page } = await withPasskey('frances');
    await press(page, 'Use my passkeys as the second step');
    await says(page, 'status', 'Two-factor authentication is on.');
    await showsPage(page, 'Save your recovery codes');
    await page.getByText('If you lose your phone or your passkeys,').waitFor();
    await page.goto(app.url('/auth/account/security'));
    await openCard(page, 'Two-factor authentication');
    // The session has not used the second step yet.
    await press(page, 'Stop using passkeys as the second step');
    await press(page, 'Use a passkey');
    // The script of the page sends the form once more.
    await says(page, 'status', 'Your passkeys are no longer the second step.');
  });

  test('a passkey proves who undoes a change, and stays', async () => {
    const { page, person } = await withPasskey('kurt');
    await openCard(page, 'Password');
    await fill(page, 'Current password', person.password);
    await fill(page, 'New password', 'a difference engine');
    await press(page, 'Change the password');
    await says(page, 'status', 'Your password was changed.');
    await useButtonsOnly(page);
    await page.goto((await app.inbox.next(person.email, 'password-changed')).url);
    await showsPage(page, 'Undo a change');
    await press(page, 'Undo it with your passkey');
    await showsPage(page, 'The change was undone');
    await page.getByText(`emailed to ${person.email}`).waitFor();
    await follow(page, 'Back to sign-in');
    await press(page, 'Sign in with a passkey');
    await showsPage(page, `Notes of ${person.email}`);
  });
});
