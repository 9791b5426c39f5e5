import type { Background } from '../../context/background.js';
import type { ProviderClient } from './client.js';
import type { RevocableTokens } from './provider.js';

/** Revokes tokens that no account uses any longer at their providers, in the background. A failure is only logged. */
export class Revocations {
  readonly #running = new Set<Promise<void>>();

  constructor(private readonly background: Background) {}

  start(client: ProviderClient, tokens: RevocableTokens): void {
    const running = client
      .revoke(tokens)
      // The client has already logged the failure.
      .catch(() => undefined)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    this.background.add(running);
  }

  /** Waits for the running revocations, each of which has a time limit. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }
}
