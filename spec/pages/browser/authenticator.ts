/// <reference lib="dom" />
import type { Page } from 'playwright-core';
import type { Page as FirefoxPage } from 'puppeteer-core';

/** A device with passkeys that belongs to a page: Chromium's virtual authenticator. */
export interface Authenticator {
  /** Whether its owner confirms at once whatever a page asks for, and chooses the first passkey in a list. */
  confirms(does: boolean): Promise<void>;
  /** How many passkeys are on it. */
  count(): Promise<number>;
  /** Resolves once a page has made the browser delete a passkey. */
  nextDeletion(): Promise<void>;
}

/** Gives the browser of a page an authenticator like that of a phone. @param transport `usb` for a security key */
export async function addAuthenticator(
  page: Page,
  transport: 'internal' | 'usb' = 'internal',
): Promise<Authenticator> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    async confirms(enabled) {
      await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    },
    async count() {
      const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId });
      return credentials.length;
    },
    nextDeletion: () =>
      new Promise((deleted) => devtools.once('WebAuthn.credentialDeleted', () => deleted())),
  };
}

/** What Puppeteer does not declare of its connection to Firefox. */
interface WithConnection {
  readonly connection: {
    send(method: string, given: object): Promise<{ readonly result: ChromeContexts & Evaluated }>;
  };
}

interface ChromeContexts {
  readonly contexts: readonly { readonly context: string }[];
}

interface Evaluated {
  readonly type: string;
}

/**
 * Gives Firefox an authenticator like that of a phone, in place of the one that it has. Its owner confirms at once
 * whatever a page asks for. WebDriver BiDi has no command for this, so a script calls Firefox's own service.
 */
export async function addFirefoxAuthenticator(page: FirefoxPage): Promise<void> {
  const { connection } = page.browser() as unknown as WithConnection;
  const { result: windows } = await connection.send('browsingContext.getTree', { 'moz:scope': 'chrome' });
  const { result } = await connection.send('script.evaluate', {
    target: { context: windows.contexts[0]?.context },
    awaitPromise: false,
    expression: `{
      const service = Cc['@mozilla.org/webauthn/service;1'].getService(Ci.nsIWebAuthnService);
      if (window.authenticator) service.removeVirtualAuthenticator(window.authenticator);
      window.authenticator = service.addVirtualAuthenticator('ctap2', 'internal', true, true, true, true);
    }`,
  });
  if (result.type !== 'success') throw new Error(`Firefox has no authenticator: ${JSON.stringify(result)}`);
}

/** Keeps a device from signing in by itself, from the list at the field, on the pages that are opened from now on. */
export async function useButtonsOnly(page: Page): Promise<void> {
  await page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });
}

/**
 * Leaves the list at the field alone on the pages that are opened from now on, as a user does who presses the button:
 * the virtual authenticator would choose from it whenever it confirms. Returns a function that waits until it is offered.
 */
export async function leaveList(page: Page): Promise<() => Promise<void>> {
  await page.addInitScript(() => {
    const { credentials } = navigator;
    const get = credentials.get.bind(credentials);
    credentials.get = (asked) => {
      if (asked?.mediation !== 'conditional') return get(asked);
      document.documentElement.dataset.listed = '';
      return new Promise((_resolve, reject) => {
        asked.signal?.addEventListener('abort', () => reject(asked.signal?.reason));
      });
    };
  });
  return () => page.locator('html[data-listed]').waitFor({ state: 'attached' });
}
