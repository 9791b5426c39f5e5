import { createPublicKey, hash, type JsonWebKey } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { type NewPasskey, provesCopy, type VerifiedUse } from '../../factors/passkeys.js';
import type { PasskeyRefusalReason } from '../../outbox/events.js';
import type { PasskeyRow } from '../../tables/factors.js';
import type { RelyingParty } from './relying-party.js';
import {
  bytesOf,
  type ClientData,
  clientDataOf,
  loadWebAuthn,
  type NewPasskeyResponse,
  type PasskeyResponse,
  type WebAuthn,
} from './webauthn.js';

// WebAuthn Level 3, 4: Credential ID.
const MIN_ID_BYTES = 16;
const MAX_ID_BYTES = 1023;
// An RSA key of 4096 bits has 530 bytes.
const MAX_KEY_BYTES = 1024;
const MAX_TRANSPORTS = 8;
const TRANSPORT = /^[a-z][a-z0-9-]{0,31}$/;

/** A new passkey, and the AAGUID of its authenticator. */
export interface VerifiedRegistration extends NewPasskey {
  readonly aaguid: string;
}

/** The passkey that verifies its use. */
type UsedPasskey = Pick<PasskeyRow, 'publicKey' | 'counter' | 'userHandle' | 'deviceType'>;

/**
 * Verifies a new passkey (WebAuthn Level 3, 7.1), whose challenge has been consumed.
 *
 * @returns null if anything is wrong
 */
export async function verifyRegistration(
  { id: expectedRPID, origins }: RelyingParty,
  response: NewPasskeyResponse,
  { challenge }: ClientData,
): Promise<VerifiedRegistration | null> {
  const webauthn = await loadWebAuthn();
  try {
    if (!isOwnFrame(response) || !isUnattested(webauthn, response)) return null;
    const { verified, registrationInfo } = await webauthn.verifyRegistrationResponse({
      response: response as unknown as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: [...origins],
      expectedRPID,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!verified) return null;
    const {
      aaguid,
      credential,
      credentialDeviceType: deviceType,
      credentialBackedUp: backedUp,
    } = registrationInfo;
    const key = Buffer.from(credential.publicKey);
    // The library does not compare the claimed id with the attested one.
    if (credential.id !== response.id || !credentialIdOf(response)) return null;
    const cose: unknown = webauthn.decodeCredentialPublicKey(credential.publicKey);
    if (key.length > MAX_KEY_BYTES || !isUsableKey(cose as ReadonlyMap<unknown, unknown>)) return null;
    return {
      aaguid,
      credentialId: credential.id,
      publicKey: key.toString('base64url'),
      counter: credential.counter,
      deviceType,
      backedUp,
      transports: transportsOf(response),
    };
  } catch {
    // The library throws if it rejects a response, or cannot decode it.
    return null;
  }
}

/**
 * Verifies the use of a passkey (WebAuthn Level 3, 7.2), whose challenge has been consumed. This takes the same time
 * with and without a passkey.
 *
 * @param passkey null if no passkey has this id
 * @param isUserKnown whether the user has been identified by other means, so that the response can omit the user handle
 * @returns why the passkey is refused, if anything is wrong
 */
export async function verifyUse(
  party: RelyingParty,
  response: PasskeyResponse,
  clientData: ClientData,
  passkey: UsedPasskey | null,
  isUserKnown: boolean,
): Promise<VerifiedUse | PasskeyRefusalReason> {
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  const { id: expectedRPID, origins } = party;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as unknown as AuthenticationResponseJSON,
      expectedChallenge: clientData.challenge,
      expectedOrigin: [...origins],
      expectedRPID,
      requireUserVerification: true,
      credential: {
        id: response.id,
        publicKey: Uint8Array.from(Buffer.from((passkey ?? NO_PASSKEY).publicKey, 'base64url')),
        // The library would reject every counter that has gone back.
        counter: 0,
      },
    });
    if (!passkey) return 'unknown';
    if (!verified) return 'signature';
    if (!isOwnFrame(response)) return 'origin';
    if (!isOwnUser(response, passkey, isUserKnown)) return 'owner';
    const { newCounter: counter, credentialDeviceType: deviceType } = authenticationInfo;
    // Whether a passkey can be copied should never change (6.1.3: Credential Backup State). But some authenticators say
    // so only after their first sync, or since an update. The opposite would hide that there are copies.
    if (passkey.deviceType === 'multiDevice' && deviceType === 'singleDevice') return 'backup';
    if (provesCopy(passkey, counter)) return 'counter';
    const backedUp = authenticationInfo.credentialBackedUp;
    return { counter, backedUp, deviceType, userHandle: response.response.userHandle ?? '' };
  } catch {
    return passkey ? mistakeIn(party, response, clientData) : 'unknown';
  }
}

// The positions in the authenticator data (6.1: Authenticator Data).
const RP_ID_HASH_BYTES = 32;
const USER_VERIFIED = 0x04;

/** Says why the library has rejected a response, whose messages contain values of the client. */
function mistakeIn(
  { id, origins }: RelyingParty,
  response: PasskeyResponse,
  { origin }: ClientData,
): PasskeyRefusalReason {
  const data = bytesOf(response.response.authenticatorData);
  if (!data || data.length <= RP_ID_HASH_BYTES) return 'malformed';
  const isOwnDomain = data.subarray(0, RP_ID_HASH_BYTES).equals(hash('sha256', id, 'buffer'));
  if (!isOwnDomain || !isOwnFrame(response) || !origins.includes(String(origin))) return 'origin';
  return (data[RP_ID_HASH_BYTES] ?? 0) & USER_VERIFIED ? 'malformed' : 'user_verification';
}

/** Returns the id of the passkey in a response. Null if it is not a valid id. */
export function credentialIdOf({ id }: NewPasskeyResponse | PasskeyResponse): Buffer | null {
  return isCredentialId(id) ? bytesOf(id) : null;
}

/** Whether a value can be the id of a passkey, in base64url. */
export function isCredentialId(id: unknown): id is string {
  const bytes = bytesOf(id);
  return bytes !== null && bytes.length >= MIN_ID_BYTES && bytes.length <= MAX_ID_BYTES;
}

/** Returns a public key in base64url, if latchkey can verify passkeys with it. Null if it cannot. */
export async function usablePublicKey(key: unknown): Promise<string | null> {
  const { decodeCredentialPublicKey } = await loadWebAuthn();
  const bytes = bytesOf(key);
  if (!bytes || bytes.length > MAX_KEY_BYTES) return null;
  try {
    const cose: unknown = decodeCredentialPublicKey(Uint8Array.from(bytes));
    return isUsableKey(cose as ReadonlyMap<unknown, unknown>) ? (key as string) : null;
  } catch {
    return null;
  }
}

/**
 * Whether the page was not in another site's frame. The library checks this only partially, and not at all for new
 * passkeys.
 */
function isOwnFrame(response: NewPasskeyResponse | PasskeyResponse): boolean {
  const { crossOrigin, topOrigin } = clientDataOf(response) ?? { crossOrigin: true };
  return (crossOrigin === undefined || crossOrigin === false) && topOrigin === undefined;
}

/**
 * Whether the response has no attestation from the authenticator's maker, which latchkey does not request. Browsers
 * remove it, or leave one that the passkey itself has signed (5.1.3). Verifying any other attestation would require
 * parsing certificates and downloading the revocation lists that they name.
 */
function isUnattested(webauthn: WebAuthn, { response }: NewPasskeyResponse): boolean {
  const object = bytesOf(response.attestationObject);
  const attestation = object && webauthn.decodeAttestationObject(Uint8Array.from(object));
  const format = attestation?.get('fmt');
  return format === 'none' || (format === 'packed' && attestation?.get('attStmt').get('x5c') === undefined);
}

/** Whether the response names the passkey's owner. It can omit the owner only if the user is already known. */
function isOwnUser(
  { response: { userHandle } }: PasskeyResponse,
  passkey: UsedPasskey,
  isUserKnown: boolean,
): boolean {
  if (!userHandle) return isUserKnown;
  // An imported passkey has no handle until its first use here.
  return passkey.userHandle === '' || userHandle === passkey.userHandle;
}

/**
 * Returns the valid transports. Browsers might report transports that do not exist yet, and clients can send anything.
 */
function transportsOf({ response: { transports } }: NewPasskeyResponse): readonly string[] {
  return knownTransports(transports);
}

/** Returns the valid transports in a list. */
export function knownTransports(transports: unknown): readonly string[] {
  const words = Array.isArray(transports) ? transports : [];
  const known = words.filter((word): word is string => typeof word === 'string' && TRANSPORT.test(word));
  return [...new Set(known)].slice(0, MAX_TRANSPORTS);
}

/** A public key whose private key no one has. It is used to verify the response if the passkey does not exist. */
const NO_PASSKEY = {
  publicKey:
    'pQECAyYgASFYINLyZ2t2fqLwumOY1TesAF9fmd5UO0t7GMXy636Sg3EzIlggKGJWKD_JhUQj6C4ukUYinw2y0sDkUwJuDc7ZSv-HQiI',
};

/** The algorithms of passkeys, in order of preference: EdDSA, ES256 and RS256 (RFC 9053, RFC 8812). */
export const ALGORITHMS = [-8, -7, -257] as const;

// The labels of COSE keys (RFC 9052, 7; RFC 9053, 7; RFC 8230, 4).
const KTY = 1;
const ALG = 3;
const CRV_OR_N = -1;
const X_OR_E = -2;
const Y = -3;

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 4096;
// With a smaller exponent, such as 1 or 3, signatures can be forged (FIPS 186-5, 5.4). Larger ones are only slow.
const MIN_RSA_EXPONENT = 65_537n;
const MAX_RSA_EXPONENT = 2n ** 64n;

/**
 * Whether a COSE key is usable with one of {@link ALGORITHMS}. Without an attestation, nothing else shows this before
 * the first sign-in, and a passkey that can never sign in would still count as a sign-in method.
 */
function isUsableKey(cose: ReadonlyMap<unknown, unknown>): boolean {
  const jwk = jwkOf(cose);
  if (!jwk) return false;
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' });
    const { modulusLength: bits, publicExponent: exponent = 0n } = asymmetricKeyDetails ?? {};
    if (bits === undefined) return true;
    if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS || exponent % 2n === 0n) return false;
    return exponent >= MIN_RSA_EXPONENT && exponent < MAX_RSA_EXPONENT;
  } catch {
    return false;
  }
}

function jwkOf(cose: ReadonlyMap<unknown, unknown>): JsonWebKey | null {
  const text = (label: number) => {
    const bytes = cose.get(label);
    return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64url') : '';
  };
  switch (
    `${cose.get(ALG)} ${cose.get(KTY)} ${cose.get(CRV_OR_N) instanceof Uint8Array ? '' : cose.get(CRV_OR_N)}`
  ) {
    case '-8 1 6':
      return { kty: 'OKP', crv: 'Ed25519', x: text(X_OR_E) };
    case '-7 2 1':
      return { kty: 'EC', crv: 'P-256', x: text(X_OR_E), y: text(Y) };
    case '-257 3 ':
      return { kty: 'RSA', n: text(CRV_OR_N), e: text(X_OR_E) };
    default:
      return null;
  }
}
