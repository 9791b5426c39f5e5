import { isBusy, isRetryable, wasNotSent } from './faults.js';
import type { Turn } from './turn.js';

const MAX_ATTEMPTS = 3;
const MAX_CONNECTIONS = 10;
const MAX_PAUSE_MS = 60;

/**
 * Runs a statement or transaction again that was not sent because an idle connection had died, up to the size of the pool,
 * and one that the database aborted in favor of another. Writers wait for SQLite's lock until their deadline: a transaction
 * of the app may hold it for long.
 */
export async function retrying<T>(turn: Turn, attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (wasNotSent(error) && attempts <= MAX_CONNECTIONS) continue;
      // Its caller may not have been told yet that it is late.
      if (isBusy(error) && turn.isLate) throw turn.noAnswer();
      if (!isBusy(error) && (attempts >= MAX_ATTEMPTS || !isRetryable(error))) throw error;
      const pauseMs = Math.min(attempts * 20, MAX_PAUSE_MS) * (0.5 + Math.random());
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
