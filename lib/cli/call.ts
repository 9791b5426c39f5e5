import type { Auth } from '../auth.js';
import type { Output } from './output.js';

/** This package. */
export interface Package {
  readonly version: string;
  readonly folder: string;
}

/** One call of a command. */
export interface Call {
  readonly auth: Auth;
  /** The Express app, if the config exports it. */
  readonly app: unknown;
  readonly out: Output;
  readonly options: Readonly<Record<string, unknown>>;
  readonly args: readonly string[];
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal;
  /** Sets the exit code to 1, for a command that has done its work but has found problems. */
  fail(): void;
}

/** The work of a command. */
export type Work = (call: Call) => Promise<void>;

/** Options of {@link Acting}. */
export interface ActingOptions {
  /** Whether the work ends by itself soon after an interrupt, with a result. @default false */
  readonly endsWithResult?: boolean;
}

/** Creates the action of a command, which loads the project's config and closes its Auth. */
export type Acting = (work: Work, options?: ActingOptions) => (...given: unknown[]) => Promise<void>;

/** Collects the values of an option that can be repeated. */
export function collect(one: string, others: readonly string[] = []): readonly string[] {
  return [...others, one];
}
