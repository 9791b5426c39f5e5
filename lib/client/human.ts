import { throwIfAborted } from './abort.js';
import { ROUTES } from './generated/routes.js';
import { type Call, type CallOptions, failed, type Result } from './result.js';
import type { Send } from './transport.js';

/** Returns a token of the human check, or the result of a call with the token. */
export type HumanToken = () => Promise<string | Result<string>>;

/** The paths that the server checks by default. */
const CHECKED = /^\/(signup|signin\/email$|passwords\/request|oauth.+\/token$)/;

const CODE = 'human_check_failed';

/** Adds tokens of the human check to the requests that need one. @internal */
export function withTokens(send: Send, tokenOf: HumanToken): Send {
  return async (...given) => {
    const [{ path }, input, options, parameters = []] = given;
    const isChecked = CHECKED.test(path);
    const result = isChecked ? null : await send(given[0], input, options, [...parameters]);
    if (result && result.error?.code !== CODE) return result;
    try {
      const found = await tokenOf();
      const token = typeof found === 'string' ? found : found.data;
      return token === null ? (found as Result<never>) : send(given[0], input, options, parameters, token);
    } catch (error) {
      throwIfAborted(options?.signal, error);
      return unchecked();
    }
  };
}

function unchecked(): Result<never, typeof CODE> {
  return failed(0, CODE, 'It could not be confirmed that a person sends this. Try again.');
}

/** The method of the client that solves a challenge. */
export interface HumanClient {
  /**
   * Gets a challenge of `altcha()` and solves it, which takes a moment. The data is the token for a request: see
   * `humanToken` of `createClient`. It fails with `human_check_failed` where there is no `crypto.subtle`, such as over plain
   * http.
   */
  humanChallenge(options?: CallOptions): Call<string, 'unavailable' | typeof CODE>;
}

interface Challenge {
  readonly parameters: Readonly<Record<'nonce' | 'salt' | 'keyPrefix', string>> &
    Readonly<Record<'cost' | 'keyLength', number>>;
}

/** @internal */
export function humanClient(send: Send) {
  return {
    async humanChallenge(options?: CallOptions): Promise<Result<unknown>> {
      const result = await send(ROUTES.humanChallenge, null, options);
      const { data: challenge, error } = result;
      if (error) return result;
      const { nonce, salt, cost, keyLength, keyPrefix } = (challenge as Challenge).parameters;
      const password = bytesOf(`${nonce}00000000`);
      const kind = { name: 'PBKDF2', hash: 'SHA-256', salt: bytesOf(salt), iterations: cost };
      try {
        for (let counter = 0; ; counter++) {
          throwIfAborted(options?.signal, null);
          new DataView(password.buffer).setUint32(16, counter);
          const key = await crypto.subtle.importKey('raw', password, kind.name, false, ['deriveBits']);
          const bits = await crypto.subtle.deriveBits(kind, key, keyLength * 8);
          const derivedKey = [...new Uint8Array(bits)]
            .map((byte) => (byte + 256).toString(16).slice(1))
            .join('');
          if (derivedKey.startsWith(keyPrefix))
            return { data: btoa(JSON.stringify({ challenge, solution: { counter, derivedKey } })), error };
        }
      } catch (error) {
        throwIfAborted(options?.signal, error);
        return unchecked();
      }
    },
  };
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number(`0x${byte}`));
}
