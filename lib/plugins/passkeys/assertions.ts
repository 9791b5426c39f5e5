import type { SecondFactorSetup } from '../../accounts/second-factor.js';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import {
  type FoundPasskey,
  PasskeyRefusal,
  type PasskeyStore,
  refusalReasonOf,
} from '../../factors/passkeys.js';
import type { PasskeyRefusalReason } from '../../outbox/events.js';
import type { PasskeyRow } from '../../tables/factors.js';
import type { AcceptedPasskeys } from './accepted.js';
import { credentialIdOf, verifyUse } from './ceremonies.js';
import type { Ceremony, Challenges } from './challenges.js';
import { CHALLENGE_MS } from './declarations.js';
import type { RelyingParty } from './relying-party.js';
import {
  clientDataOf,
  loadWebAuthn,
  type PasskeyDescriptor,
  type PasskeyRequestOptionsJSON,
  type PasskeyResponse,
} from './webauthn.js';

/** How a user authenticated with a passkey (RFC 8176). */
type Methods = readonly ['hwk' | 'swk', 'user', 'mfa'];

/** The objects that the ceremonies share. */
export interface PasskeyServices {
  readonly core: Core;
  readonly store: PasskeyStore;
  readonly challenges: Challenges;
  readonly party: RelyingParty;
  readonly accepted: AcceptedPasskeys;
  /** Null if accounts cannot have a second factor. */
  readonly setup: SecondFactorSetup | null;
}

/** Asks for passkeys, and verifies their use. */
export class Assertions {
  constructor(private readonly services: PasskeyServices) {}

  /**
   * @param userId the user whose passkeys to ask for. Null for a sign-in: the browser offers the passkeys that it knows
   */
  async options(ceremony: Ceremony, userId: string | null): Promise<PasskeyRequestOptionsJSON> {
    // Load the package first, so that a missing one fails before the user touches an authenticator.
    await loadWebAuthn();
    const { store, challenges, party } = this.services;
    const passkeys = userId === null ? [] : await store.rows(userId);
    return {
      rpId: party.id,
      challenge: await challenges.issue(ceremony, userId),
      timeout: CHALLENGE_MS,
      allowCredentials: passkeys.map(descriptorOf),
      userVerification: 'required',
    };
  }

  /**
   * Verifies the use of a passkey. Its challenge is consumed first, whatever the outcome.
   *
   * @param userId the user whose passkey it must be. Null for a sign-in
   * @throws AuthError `unknown_passkey` at a sign-in, if no account has the passkey and no link can restore it;
   *   `invalid_passkey` for every other error
   */
  async verify(response: PasskeyResponse, ceremony: Ceremony, userId: string | null): Promise<FoundPasskey> {
    const { core, store, challenges, party, accepted } = this.services;
    const clientData = clientDataOf(response);
    if (!clientData) throw refusal(core, 'malformed');
    if (!(await challenges.take(clientData.challenge, ceremony))) throw refusal(core, 'challenge');
    const isId = credentialIdOf(response) !== null;
    const found = isId ? await store.find(response.id) : null;
    const isOwner = found !== null && (userId === null || found.passkey.userId === userId);
    const passkey = isOwner ? found.passkey : null;
    const use = await verifyUse(party, response, clientData, passkey, userId !== null);
    // In the second step of a sign-in, `SecondFactorRules.attempt` counts success and failure.
    const isStep = ceremony.purpose === 'second-factor';
    const isUse = typeof use === 'object';
    if (found && passkey && isUse && (await store.recordUse(passkey, use))) {
      const { account, user } = found.record;
      if (!isStep && core.secondFactors.isOn(account)) await core.secondFactors.forgive(user.id);
      return { ...found, passkey: { ...passkey, deviceType: use.deviceType } };
    }
    const reason = isUse ? await this.#whyNotRecorded(passkey) : use;
    const refused = refusal(core, found && !isOwner ? 'owner' : reason);
    if (!isStep) {
      const owner = userId ?? found?.passkey.userId ?? null;
      core.events.emit('sign_in.failed', { userId: owner, ...refusalReasonOf(refused) });
    }
    if (isId && found === null && ceremony.purpose === 'sign-in' && (await accepted.isUnknown(response.id)))
      throw new AuthError('unknown_passkey');
    throw refused;
  }

  /** Says why a use could not be recorded: another use was faster, or the passkey was removed. */
  async #whyNotRecorded(passkey: PasskeyRow | null): Promise<PasskeyRefusalReason> {
    const now = passkey && (await this.services.store.find(passkey.credentialId));
    return now ? 'counter' : 'unknown';
  }
}

/**
 * Returns the assurance of a passkey: it counts as two factors, and as a hardware key if it cannot leave its device.
 */
export function assuranceOf({ deviceType }: Pick<PasskeyRow, 'deviceType'>): { aal: 2; amr: Methods } {
  return { aal: 2, amr: [deviceType === 'singleDevice' ? 'hwk' : 'swk', 'user', 'mfa'] };
}

/** Returns the ceremony in which the user of a session reauthenticates. */
export function reauthenticationIn(sessionId: string): Ceremony {
  return { purpose: 'reauthenticate', binding: sessionId };
}

/** Returns a passkey as options describe it. */
export function descriptorOf({
  credentialId: id,
  transports,
}: Pick<PasskeyRow, 'credentialId' | 'transports'>): PasskeyDescriptor {
  return { id, type: 'public-key', transports };
}

/**
 * Logs why a passkey is refused. Returns the error, which is the same for the client whatever the reason is, and tells the
 * event `sign_in.failed` the reason: see `refusalReasonOf`.
 */
export function refusal(
  { settings: { log } }: Pick<Core, 'settings'>,
  reason: PasskeyRefusalReason,
): AuthError {
  const cause = new PasskeyRefusal(reason);
  log.warn('passkey.refused', cause.message, { cause: reason });
  return new AuthError('invalid_passkey', { cause });
}
