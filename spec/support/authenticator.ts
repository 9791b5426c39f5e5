import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON as CreationOptions,
  RegistrationResponseJSON,
  PublicKeyCredentialRequestOptionsJSON as RequestOptions,
} from '@simplewebauthn/server';
import { type Cbor, encodeCbor } from './cbor.js';

/** A passkey that an authenticator holds. */
export interface Credential {
  readonly id: Buffer;
  readonly rpId: string;
  readonly userHandle: Buffer;
  readonly privateKey: KeyObject;
  readonly publicKey: Buffer;
  counter: number;
}

/** Options of an {@link Authenticator}. */
export interface AuthenticatorOptions {
  /** The origin of the page. */
  readonly origin: string;
  /** Whether its passkeys can be backed up, like the passkeys of phones and password managers. @default true */
  readonly backupEligible?: boolean;
  /** Whether its passkeys are backed up. @default the same as backupEligible */
  readonly backedUp?: boolean;
  /**
   * The counter of a new passkey. Zero means that the passkey never counts, like passkeys that are backed up. @default
   * 0
   */
  readonly counter?: number;
  readonly transports?: readonly string[];
  /** @default zeros, as Apple's send */
  readonly aaguid?: string;
  /** The length of a credential's id, in bytes. @default 32 */
  readonly idBytes?: number;
}

/** The false values of a ceremony. Everything that is left out is correct. */
export interface Lies {
  readonly origin?: string;
  /** `type` in the client data. */
  readonly type?: string;
  /** Base64url, as in the options. */
  readonly challenge?: string;
  readonly crossOrigin?: unknown;
  readonly topOrigin?: unknown;
  /** Further members of the client data, or other values of ours. */
  readonly clientData?: Readonly<Record<string, unknown>>;
  /** The text of the client data. */
  readonly clientDataJSON?: string;
  /** The id whose hash is in the authenticator data. */
  readonly rpId?: string;
  readonly userPresent?: boolean;
  readonly userVerified?: boolean;
  readonly backupEligible?: boolean;
  readonly backedUp?: boolean;
  readonly counter?: number;
  /** Null leaves it out. */
  readonly userHandle?: Buffer | null;
  /** The id that is sent along with the response. */
  readonly id?: string;
  readonly rawId?: string;
  /** The type that is sent along with the response. */
  readonly credentialType?: string;
  /** The key that signs, in place of the passkey's key. */
  readonly signingKey?: KeyObject;
  /** Bytes that follow the authenticator data. */
  readonly trailing?: Buffer;
  readonly authenticatorData?: Buffer;
  readonly signature?: Buffer;
  /** The passkey to use, in place of one that the options allow. */
  readonly credential?: Credential;
  /** The id, the COSE key, the format and statement, and the whole attestation object of a new passkey. */
  readonly credentialId?: Buffer;
  readonly publicKey?: Buffer;
  readonly format?: string;
  readonly statement?: ReadonlyMap<string, Cbor>;
  readonly attestationObject?: Buffer;
  readonly transports?: readonly unknown[];
  /** Further members of the response, or other values of ours. */
  readonly response?: Readonly<Record<string, unknown>>;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;
const HAS_CREDENTIAL = 0x40;
const ES256 = -7;

/**
 * An authenticator and its browser in software. It creates passkeys (P-256) from creation options, and assertions from
 * request options, in the JSON forms of WebAuthn Level 3. Like a real authenticator, it keeps passkeys by site, and
 * refuses to create a second passkey if the options exclude the first one.
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly credentials: Credential[] = [];

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** `navigator.credentials.create()`. */
  create(options: CreationOptions, lies: Lies = {}): RegistrationResponseJSON {
    const rpId = options.rp.id ?? new URL(this.#options.origin).hostname;
    this.#requireOwnSite(rpId);
    const excluded = new Set(options.excludeCredentials?.map(({ id }) => id));
    if (this.credentials.some(({ id }) => excluded.has(base64url(id))))
      throw new Error('InvalidStateError: this authenticator has a passkey of the account');
    if (!options.pubKeyCredParams.some(({ alg }) => alg === ES256))
      throw new Error('NotSupportedError: no algorithm in common');
    const credential = this.#newCredential(rpId, Buffer.from(options.user.id, 'base64url'), lies);
    // A second passkey for the same user takes the place of the first.
    const same = this.credentials.findIndex(
      (one) => one.rpId === rpId && one.userHandle.equals(credential.userHandle),
    );
    if (same >= 0) this.credentials.splice(same, 1);
    this.credentials.push(credential);
    return this.#attest(options, credential, lies);
  }

  /** `navigator.credentials.get()`, with the passkey that was created last. */
  get(options: RequestOptions, lies: Lies = {}): AuthenticationResponseJSON {
    const rpId = options.rpId ?? new URL(this.#options.origin).hostname;
    this.#requireOwnSite(rpId);
    const allowed = options.allowCredentials?.map(({ id }) => id) ?? [];
    const credential =
      lies.credential ??
      this.credentials.findLast(
        (one) => one.rpId === rpId && (allowed.length === 0 || allowed.includes(base64url(one.id))),
      );
    if (!credential) throw new Error('NotAllowedError: no passkey for this site');
    return this.#assert(options, credential, lies);
  }

  #newCredential(rpId: string, userHandle: Buffer, lies: Lies): Credential {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const cose = new Map<number, Cbor>([
      [1, 2], // kty: EC2
      [3, ES256],
      [-1, 1], // crv: P-256
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]);
    return {
      id: lies.credentialId ?? randomBytes(this.#options.idBytes ?? 32),
      rpId,
      userHandle,
      privateKey,
      publicKey: lies.publicKey ?? encodeCbor(cose),
      counter: this.#options.counter ?? 0,
    };
  }

  #attest(options: CreationOptions, credential: Credential, lies: Lies): RegistrationResponseJSON {
    const idLength = Buffer.from([credential.id.length >> 8, credential.id.length & 0xff]);
    const aaguid = Buffer.from((this.#options.aaguid ?? '0'.repeat(32)).replaceAll('-', ''), 'hex');
    const attested = Buffer.concat([aaguid, idLength, credential.id, credential.publicKey]);
    const authData =
      lies.authenticatorData ?? this.#authenticatorData(credential, HAS_CREDENTIAL, attested, lies);
    const clientData = this.#clientData('webauthn.create', options.challenge, lies);
    const statement = lies.statement ?? new Map();
    const attestation = new Map<string, Cbor>([
      ['fmt', lies.format ?? 'none'],
      ['attStmt', statement],
      ['authData', authData],
    ]);
    const id = lies.id ?? base64url(credential.id);
    return {
      id,
      rawId: lies.rawId ?? id,
      type: (lies.credentialType ?? 'public-key') as 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: { credProps: { rk: true } },
      response: {
        clientDataJSON: base64url(clientData),
        attestationObject: base64url(lies.attestationObject ?? encodeCbor(attestation)),
        authenticatorData: base64url(authData),
        publicKeyAlgorithm: ES256,
        transports: (lies.transports ??
          this.#options.transports ?? ['internal', 'hybrid']) as AuthenticatorTransport[],
        ...lies.response,
      },
    };
  }

  #assert(options: RequestOptions, credential: Credential, lies: Lies): AuthenticationResponseJSON {
    // Zero stays zero: such passkeys do not count.
    if (credential.counter > 0) credential.counter += 1;
    const authData = lies.authenticatorData ?? this.#authenticatorData(credential, 0, Buffer.alloc(0), lies);
    const clientData = this.#clientData('webauthn.get', options.challenge, lies);
    const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()]);
    const signature = lies.signature ?? sign('sha256', signed, lies.signingKey ?? credential.privateKey);
    const { userHandle = credential.userHandle } = lies;
    const id = lies.id ?? base64url(credential.id);
    return {
      id,
      rawId: lies.rawId ?? id,
      type: (lies.credentialType ?? 'public-key') as 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authData),
        signature: base64url(signature),
        ...(userHandle && { userHandle: base64url(userHandle) }),
        ...lies.response,
      },
    };
  }

  #authenticatorData(credential: Credential, flags: number, attested: Buffer, lies: Lies): Buffer {
    const { backupEligible = this.#options.backupEligible ?? true } = lies;
    const { backedUp = this.#options.backedUp ?? backupEligible } = lies;
    const all =
      flags |
      ((lies.userPresent ?? true) ? USER_PRESENT : 0) |
      ((lies.userVerified ?? true) ? USER_VERIFIED : 0) |
      (backupEligible ? BACKUP_ELIGIBLE : 0) |
      (backedUp ? BACKED_UP : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(lies.counter ?? credential.counter);
    const rpIdHash = createHash('sha256')
      .update(lies.rpId ?? credential.rpId)
      .digest();
    return Buffer.concat([rpIdHash, Buffer.from([all]), counter, attested, lies.trailing ?? Buffer.alloc(0)]);
  }

  #clientData(type: string, challenge: string, lies: Lies): Buffer {
    if (lies.clientDataJSON !== undefined) return Buffer.from(lies.clientDataJSON);
    const data = {
      type: lies.type ?? type,
      challenge: lies.challenge ?? challenge,
      origin: lies.origin ?? this.#options.origin,
      crossOrigin: lies.crossOrigin ?? false,
      ...(lies.topOrigin !== undefined && { topOrigin: lies.topOrigin }),
      ...lies.clientData,
    };
    return Buffer.from(JSON.stringify(data));
  }

  /** Browsers allow a page only its own host and the domains above it. */
  #requireOwnSite(rpId: string): void {
    const { hostname } = new URL(this.#options.origin);
    if (hostname !== rpId && !hostname.endsWith(`.${rpId}`))
      throw new Error(`SecurityError: ${rpId} is not a domain of ${hostname}`);
  }
}

export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
