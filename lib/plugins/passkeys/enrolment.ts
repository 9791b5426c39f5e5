import type { Transaction } from 'sequelize';
import { violatedUnique } from '../../database/faults.js';
import { AuthError } from '../../errors.js';
import { MAX_PER_USER, type NewPasskey } from '../../factors/passkeys.js';
import type { NewCodes } from '../../factors/recovery-codes.js';
import type { EnrolledSecondFactor } from '../../sessions/second-factor.js';
import type { User } from '../../tables/core.js';
import type { Passkey } from '../../tables/factors.js';
import type { UserRecord } from '../../users/record.js';
import { assuranceOf, descriptorOf, type PasskeyServices, refusal } from './assertions.js';
import { authenticatorName } from './authenticators.js';
import { ALGORITHMS, verifyRegistration } from './ceremonies.js';
import type { Ceremony } from './challenges.js';
import { CHALLENGE_MS, passkeyNotices } from './declarations.js';
import {
  clientDataOf,
  loadWebAuthn,
  type NewPasskeyResponse,
  type PasskeyCreationOptionsJSON,
} from './webauthn.js';

/** A passkey that was just added. */
export interface RegisteredPasskey extends Passkey {
  /**
   * The session with a new token, and the recovery codes, if the session had the task `enroll_second_factor`: the passkey is
   * the second factor of its user from now on.
   */
  readonly enrolled?: EnrolledSecondFactor;
}

/** Adds passkeys to accounts. */
export class Enrolment {
  constructor(private readonly services: PasskeyServices) {}

  /** @throws AuthError `user_not_found`, `email_not_verified`, `too_many_passkeys` */
  async options(userId: string, sessionId: string): Promise<PasskeyCreationOptionsJSON> {
    // Load the package first, so that a missing one fails before the user touches an authenticator.
    await loadWebAuthn();
    const { core, store, challenges, party, accepted } = this.services;
    const record = await core.users.require(userId);
    this.#requireVerifiedEmail(record);
    const passkeys = await store.rows(userId);
    requireRoom(passkeys);
    const handle = await accepted.handleOf(userId, passkeys);
    const name = nameOf(record.user, party.name);
    return {
      rp: { id: party.id, name: party.name },
      user: { id: handle, name, displayName: name },
      challenge: await challenges.issue(enrolmentIn(sessionId), userId, handle),
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: CHALLENGE_MS,
      excludeCredentials: passkeys.map(descriptorOf),
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      attestation: 'none',
      extensions: { credProps: true },
    };
  }

  /**
   * @param name null for the name of the authenticator
   * @throws AuthError `invalid_passkey`, `passkey_exists`, `email_not_verified`, `too_many_passkeys`, `invalid_session`
   */
  async complete(
    userId: string,
    sessionId: string,
    name: string | null,
    response: NewPasskeyResponse,
  ): Promise<RegisteredPasskey> {
    const { core, challenges, party, setup } = this.services;
    const clientData = clientDataOf(response);
    const ceremony = enrolmentIn(sessionId);
    const userHandle =
      clientData && (await challenges.takeForRegistration(clientData.challenge, ceremony, userId));
    const verified = userHandle && (await verifyRegistration(party, response, clientData));
    if (!verified) throw refusal(core, userHandle ? 'malformed' : 'challenge');
    const { aaguid, ...passkey } = verified;
    const named = { userHandle, name: name ?? authenticatorName(aaguid) };
    const add = (codes: NewCodes | null) =>
      core.change(userId, { sessionId }, (record, transaction) =>
        this.#add(record, sessionId, passkey, { ...named, codes }, transaction),
      );
    return (setup ? setup.enrolling(userId, add) : add(null)).catch(refuseKnown);
  }

  async #add(
    record: UserRecord,
    sessionId: string,
    verified: NewPasskey,
    { userHandle, name, codes }: { userHandle: string; name: string; codes: NewCodes | null },
    transaction: Transaction,
  ): Promise<RegisteredPasskey> {
    const { core, store, setup } = this.services;
    const { id: userId } = record.user;
    this.#requireVerifiedEmail(record);
    requireRoom(await store.rows(userId, transaction));
    const enrols = (await setup?.beginEnrolment(record, sessionId, name, transaction)) ?? false;
    if (!enrols)
      await core.notices.before(passkeyNotices['passkey-added'], record, transaction, { subject: name });
    const passkey = await store.create(verified, { userId, userHandle, name }, transaction);
    core.events.emit('passkey.added', { userId, passkeyId: passkey.id }, transaction);
    if (!setup || !enrols) return passkey;
    const shown = assuranceOf(verified);
    return { ...passkey, enrolled: await setup.enrolPasskey(record, sessionId, shown, codes, transaction) };
  }

  /**
   * Rejects an unverified email, because someone who signed up with another person's address must not keep a passkey
   * after the owner of the address verifies it.
   */
  #requireVerifiedEmail({ user: { email }, emailProof }: UserRecord): void {
    const { settings } = this.services.core;
    if (settings.email !== null && email !== null && !emailProof.reaches('app'))
      throw new AuthError('email_not_verified');
  }
}

/** Turns a violation of the unique index into `passkey_exists`. */
function refuseKnown(error: unknown): never {
  throw violatedUnique(error) ? new AuthError('passkey_exists', { cause: error }) : error;
}

function enrolmentIn(sessionId: string): Ceremony {
  return { purpose: 'register', binding: sessionId };
}

function requireRoom(passkeys: readonly unknown[]): void {
  if (passkeys.length >= MAX_PER_USER) throw new AuthError('too_many_passkeys');
}

/** Returns the name that the browser shows, so that users can distinguish their accounts. */
function nameOf({ email, usernameDisplay }: User, otherwise: string): string {
  return email ?? usernameDisplay ?? otherwise;
}
