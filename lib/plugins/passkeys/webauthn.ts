/** @internal */
type Server = Pick<
  typeof import('@simplewebauthn/server'),
  'verifyAuthenticationResponse' | 'verifyRegistrationResponse'
>;
/** @internal */
type Helpers = Pick<
  typeof import('@simplewebauthn/server/helpers'),
  'decodeAttestationObject' | 'decodeCredentialPublicKey'
>;

/**
 * The functions of @simplewebauthn/server that passkeys use.
 *
 * @internal
 */
export interface WebAuthn extends Server, Helpers {}

/**
 * Loads @simplewebauthn/server, which takes about half a second the first time.
 *
 * @throws Error naming the package to install
 *
 * @internal
 */
export async function loadWebAuthn(): Promise<WebAuthn> {
  try {
    const server = await import('@simplewebauthn/server');
    const helpers = await import('@simplewebauthn/server/helpers');
    const { verifyAuthenticationResponse, verifyRegistrationResponse } = server;
    const { decodeAttestationObject, decodeCredentialPublicKey } = helpers;
    return {
      verifyAuthenticationResponse,
      verifyRegistrationResponse,
      decodeAttestationObject,
      decodeCredentialPublicKey,
    };
  } catch (cause) {
    throw new Error(
      'latchkey: passkeys require an additional package: run npm install @simplewebauthn/server',
      {
        cause,
      },
    );
  }
}

/** A passkey in options: its id in base64url, and how browsers reach it. */
export interface PasskeyDescriptor {
  readonly id: string;
  readonly type: 'public-key';
  readonly transports: readonly string[];
}

/**
 * Options for `navigator.credentials.create()`, for `PublicKeyCredential.parseCreationOptionsFromJSON()` (WebAuthn
 * Level 3, 5.1.9).
 */
export interface PasskeyCreationOptionsJSON {
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  /** In base64url. */
  readonly challenge: string;
  readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[];
  /** In milliseconds. */
  readonly timeout: number;
  /** The user's passkeys. An authenticator that has one of them does not create another. */
  readonly excludeCredentials: readonly PasskeyDescriptor[];
  readonly authenticatorSelection: {
    readonly residentKey: 'required';
    readonly requireResidentKey: true;
    readonly userVerification: 'required';
  };
  readonly attestation: 'none';
  readonly extensions: { readonly credProps: true };
}

/** Options for `navigator.credentials.get()`, for `PublicKeyCredential.parseRequestOptionsFromJSON()`. */
export interface PasskeyRequestOptionsJSON {
  readonly rpId: string;
  /** In base64url. */
  readonly challenge: string;
  /** In milliseconds. */
  readonly timeout: number;
  /** The user's passkeys. Empty for a sign-in, for which the browser offers the passkeys that it knows. */
  readonly allowCredentials: readonly PasskeyDescriptor[];
  readonly userVerification: 'required';
}

/** A new passkey: the parts of the result of `toJSON()` that latchkey reads. */
export interface NewPasskeyResponse {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[] | undefined;
  };
}

/** The use of a passkey: the parts of the result of `toJSON()` that latchkey reads. */
export interface PasskeyResponse {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null | undefined;
  };
}

/** The parts of the client data of a response (WebAuthn Level 3, 5.8.1) that latchkey reads. */
export interface ClientData {
  readonly challenge: string;
  readonly origin?: unknown;
  readonly crossOrigin?: unknown;
  readonly topOrigin?: unknown;
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * Returns the bytes of a value in base64url without padding. Null if it is anything else, or not their canonical
 * encoding.
 */
export function bytesOf(value: unknown): Buffer | null {
  if (typeof value !== 'string' || !BASE64URL.test(value)) return null;
  const bytes = Buffer.from(value, 'base64url');
  return bytes.toString('base64url') === value ? bytes : null;
}

/** Returns the client data of a response. Null if there is none, or if it has no challenge. */
export function clientDataOf(response: NewPasskeyResponse | PasskeyResponse): ClientData | null {
  const bytes = bytesOf(response?.response?.clientDataJSON);
  if (!bytes) return null;
  try {
    const data = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return typeof data?.challenge === 'string' ? data : null;
  } catch {
    return null;
  }
}
