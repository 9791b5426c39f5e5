/** The options of a ceremony, as JSON. */
export interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly [name: string]: unknown;
}

/** The part of a browser's `PublicKeyCredential` that servers use. */
export interface Credential {
  readonly id: string;
  readonly rawId: ArrayBuffer;
  readonly type: string;
  readonly response: Readonly<Record<string, ArrayBuffer>> & { getTransports?(): string[] };
}

/** Converts options from JSON, for browsers that do not do it themselves. @internal */
export function decoded(options: Options): object {
  // The id of the relying party is a host name.
  const { rp, ...others } = options;
  const bytes = JSON.parse(JSON.stringify(others), (name, value) =>
    name === 'challenge' || name === 'id' ? bytesOf(value) : value,
  );
  return { rp, ...bytes };
}

/** Converts a credential to JSON, for browsers that do not do it themselves. @internal */
export function encoded(credential: Credential): object {
  const { id, rawId, type, response } = credential;
  const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  // JSON leaves out what a response does not have.
  const texts = parts.map((part) => [part, response[part] && textOf(response[part])]);
  return {
    id,
    rawId: textOf(rawId),
    type,
    response: { ...Object.fromEntries(texts), transports: response.getTransports?.() },
  };
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
}

function textOf(buffer: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
