import type { Core } from '../../core/core.js';
import type { PasskeyStore } from '../../factors/passkeys.js';
import type { Passkey, PasskeyRow } from '../../tables/factors.js';
import type { RelyingParty } from './relying-party.js';
import { type EarlierPasskey, PASSKEYS_PART, storedIn } from './snapshots.js';

/** The argument of `PublicKeyCredential.signalAllAcceptedCredentials()` (WebAuthn Level 3, 5.1.10.3). */
export interface PasskeySignal {
  readonly rpId: string;
  /** The handle that identifies the user to authenticators, in base64url. */
  readonly userId: string;
  /** The ids of the credentials that browsers keep, in base64url. */
  readonly accepted: readonly string[];
}

/**
 * Finds the passkeys that browsers should keep: the passkeys of the account, and removed passkeys that an undo link can
 * restore. A browser might delete all others permanently.
 */
export class AcceptedPasskeys {
  constructor(
    private readonly core: Core,
    private readonly store: PasskeyStore,
    private readonly party: RelyingParty,
  ) {}

  /** Lists a user's passkeys, newest first, with the signal for browsers. */
  async list(userId: string): Promise<{ readonly passkeys: Passkey[]; readonly signal: PasskeySignal }> {
    const passkeys = await this.store.rows(userId);
    const all = [...passkeys, ...(await this.#restorable(userId))];
    const accepted = [...new Set(all.map(({ credentialId }) => credentialId))];
    const handle = handleIn(all) ?? this.#derived(userId);
    const signal = { rpId: this.party.id, userId: handle, accepted };
    return { passkeys: passkeys.map((one) => this.store.shown(one)), signal };
  }

  /**
   * Returns the handle for a user's next passkey. All passkeys of a user have the same one, so that an authenticator
   * replaces an old passkey instead of listing both.
   *
   * @param passkeys the user's passkeys
   */
  async handleOf(userId: string, passkeys: readonly PasskeyRow[]): Promise<string> {
    return handleIn(passkeys) ?? handleIn(await this.#restorable(userId)) ?? this.#derived(userId);
  }

  /** Whether no account has a passkey, and no link can restore it. */
  async isUnknown(credentialId: string): Promise<boolean> {
    for (const userId of await this.store.formerOwners(credentialId)) {
      const isIt = (one: Pick<PasskeyRow, 'credentialId'>) => one.credentialId === credentialId;
      if ((await this.#restorable(userId)).some(isIt)) return false;
      // An undo might have restored it after the first search.
      if ((await this.store.rows(userId)).some(isIt)) return false;
    }
    return true;
  }

  async #restorable(userId: string): Promise<readonly EarlierPasskey[]> {
    const states = await this.core.history.restorable(userId);
    return states.flatMap(({ parts }) => storedIn(parts[PASSKEYS_PART]));
  }

  /**
   * Returns the handle of a user without passkeys. It is derived, so that it stays the same after the last passkey was
   * removed. It is not the user's id, because others might know the id (WebAuthn Level 3, 14.6.1).
   */
  #derived(userId: string): string {
    return this.core.codes.bytesFor(`user handle of passkeys ${userId}`)[0].toString('base64url');
  }
}

/** Returns the handle of a user's passkeys. An imported passkey has no handle until its first use here. */
function handleIn(passkeys: readonly Pick<PasskeyRow, 'userHandle'>[]): string | undefined {
  return passkeys.find(({ userHandle }) => userHandle !== '')?.userHandle;
}
