import type { Auth } from '../auth.js';
import type { Output } from './output.js';

/** One call of a command. */
export interface Call {
  readonly auth: Auth;
  /** The app on Express, if the config exports it. */
  readonly app: unknown;
  readonly out: Output;
  readonly options: Readonly<Record<string, unknown>>;
  readonly args: readonly string[];
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal;
  /** Makes the exit code 1 although the command has done its work, because of what it has found. */
  fail(): void;
}

/** What a command does. */
export type Work = (call: Call) => Promise<void>;

/** Makes the action of a command, which loads the project's config and closes its Auth. */
export type Acting = (work: Work) => (...given: unknown[]) => Promise<void>;
