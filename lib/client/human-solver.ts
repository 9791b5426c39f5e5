/** A challenge of `altcha()`. */
export interface Challenge {
  readonly parameters: Readonly<Record<'nonce' | 'salt' | 'keyPrefix', string>> &
    Readonly<Record<'cost' | 'keyLength', number>>;
}

/**
 * Solves a challenge, which takes a moment. Returns the token for a request.
 *
 * @throws the reason of the signal if it is aborted, and an error if there is no `crypto.subtle`
 * @internal
 */
export async function solved(challenge: Challenge, signal: AbortSignal | undefined): Promise<string> {
  const { nonce, salt, cost, keyLength, keyPrefix } = challenge.parameters;
  const password = bytesOf(`${nonce}00000000`);
  const kind = { name: 'PBKDF2', hash: 'SHA-256', salt: bytesOf(salt), iterations: cost };
  for (let counter = 0; !signal?.aborted; counter++) {
    new DataView(password.buffer).setUint32(16, counter);
    const key = await crypto.subtle.importKey('raw', password, kind.name, false, ['deriveBits']);
    const bits = await crypto.subtle.deriveBits(kind, key, keyLength * 8);
    const derivedKey = [...new Uint8Array(bits)].map((byte) => (byte + 256).toString(16).slice(1)).join('');
    if (derivedKey.startsWith(keyPrefix))
      return btoa(JSON.stringify({ challenge, solution: { counter, derivedKey } }));
  }
  throw signal.reason;
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number(`0x${byte}`));
}
