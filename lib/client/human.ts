import { type Signal, throwIfAborted } from './abort.js';
import { ROUTES } from './generated/routes.js';
import type { Challenge } from './human-solver.js';
import { type Call, type CallOptions, failed, type Result } from './result.js';
import { type Send, says } from './transport.js';

/** Returns a token of the human check, or the result of a call with the token. */
export type HumanToken = () => Promise<string | Result<string>>;

const CODE = 'human_check_failed';

/** Adds tokens of the human check to the requests that need one. @internal */
export function withTokens(send: Send, tokenOf: HumanToken): Send {
  return async (...given) => {
    const [route, input, options, parameters] = given;
    if (!says(route, 'human')) {
      const result = await send(...given);
      if (result.error?.code !== CODE) return result;
    }
    return checked(options?.signal, async () => {
      const found = await tokenOf();
      const token = typeof found === 'string' ? found : found.data;
      return token === null ? (found as Result<never>) : send(route, input, options, parameters, token);
    });
  };
}

/** Returns the result of a function that can fail because of the app, the browser or the network. */
async function checked(signal: Signal, run: () => Promise<Result<unknown>>): Promise<Result<unknown>> {
  try {
    return await run();
  } catch (error) {
    throwIfAborted(signal, error);
    return failed(CODE, 'It could not be confirmed that a person sends this. Try again.');
  }
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

/** @internal */
export function humanClient(send: Send) {
  return {
    async humanChallenge(options?: CallOptions): Promise<Result<unknown>> {
      const result = await send(ROUTES.humanChallenge, null, options);
      const { data, error } = result;
      if (error) return result;
      return checked(options?.signal, async () => {
        // Most pages never solve a challenge, so they do not load the code for it.
        const { solved } = await import('./human-solver.js');
        return { data: await solved(data as Challenge, options?.signal), error };
      });
    },
  };
}
