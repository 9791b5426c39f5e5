import type { ExportedJWKSCache } from 'openid-client';

// How long it takes at least until a key that does not fit makes us ask for the keys again.
const RENEWAL_MS = 3000;
const MAX_CANDIDATES = 8;

/** An attempt to verify an answer: with these keys or, without any, with those that the provider publishes now. */
export type Attempt<T> = (
  keys: ExportedJWKSCache | undefined,
  /** Takes the keys that the attempt has ended with, whatever came of it. */
  keep: (keys: ExportedJWKSCache | undefined) => void,
) => Promise<T>;

/**
 * The keys that a provider signs with. They are kept; and where one of them does not fit, the provider may have changed
 * them: then they are asked for anew and the same answer is verified once more.
 */
export class SigningKeys {
  #known: ExportedJWKSCache | undefined;
  #renewing: Promise<unknown> | undefined;
  #renewableAt = 0;

  async verify<T>(attempt: Attempt<T>): Promise<T> {
    const used = this.#known;
    try {
      return await this.#with(used, attempt);
    } catch (error) {
      if (!isAboutKeys(error)) throw error;
      // Of many that fail at once, one asks and the others wait for it.
      if (this.#known === used && !this.#renewing) {
        if (used === undefined || Date.now() < this.#renewableAt) throw error;
        this.#renewableAt = Date.now() + RENEWAL_MS;
        const renewal = this.#with(undefined, attempt);
        this.#renewing = renewal
          .catch(() => undefined)
          .finally(() => {
            this.#renewing = undefined;
          });
        return await renewal;
      }
      await this.#renewing;
      if (this.#known === used) throw error;
      return this.#with(this.#known, attempt);
    }
  }

  async #with<T>(keys: ExportedJWKSCache | undefined, attempt: Attempt<T>): Promise<T> {
    try {
      return await attempt(keys, (now) => {
        if (now && now.uat !== keys?.uat) this.#known = now;
      });
    } catch (error) {
      return this.#tryEach(error, attempt);
    }
  }

  /** Keys without ids are no mistake: where several fit, openid-client leaves it to us to try them. */
  async #tryEach<T>(error: unknown, attempt: Attempt<T>): Promise<T> {
    for (const key of candidatesOf(error)) {
      try {
        return await attempt({ jwks: { keys: [key] }, uat: Math.floor(Date.now() / 1000) }, () => {});
      } catch (failure) {
        if (!isAboutKeys(failure)) throw failure;
      }
    }
    throw error;
  }
}

function isAboutKeys(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: { message?: string } };
  return code === 'OAUTH_KEY_SELECTION_FAILED' || /signature/.test(cause?.message ?? '');
}

function candidatesOf(error: unknown): ExportedJWKSCache['jwks']['keys'] {
  if (!isAboutKeys(error)) return [];
  const { candidates = [] } = (error as { cause?: { cause?: { candidates?: [] } } }).cause?.cause ?? {};
  return candidates.length > 1 ? candidates.slice(0, MAX_CANDIDATES) : [];
}
