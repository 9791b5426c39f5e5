/// <reference lib="dom" />
import type { Page } from 'playwright-core';

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

/** Keeps a device from signing in by itself, from the list at the field, on the pages that are opened from now on. */
export async function useButtonsOnly(page: Page): Promise<void> {
  await page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });
}
