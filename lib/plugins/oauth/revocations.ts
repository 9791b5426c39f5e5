import type { ProviderClient } from './client.js';
import type { OpenTokens } from './token-box.js';

/** Revokes the tokens of unlinked accounts at their providers, in the background. A failure is only logged. */
export class Revocations {
  readonly #running = new Set<Promise<void>>();

  start(client: ProviderClient, tokens: OpenTokens): void {
    const running = client
      .revoke(tokens)
      // The client has logged it.
      .catch(() => undefined)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits for those that are running, which takes no longer than a provider may take. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }
}
