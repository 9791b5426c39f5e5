import { hideTokens } from '../crypto/token.js';
import type { AuthError } from '../errors.js';

/** The exit codes. */
export const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** What the user is told instead of a stack trace. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** A word for programs. */
    readonly code = 'failed',
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

/** A call that cannot be understood. */
export function usageError(message: string): Refusal {
  return new Refusal(message, 'usage', EXIT.usage);
}

/** An error as it is shown. */
export interface ShownError {
  readonly code: string;
  readonly message: string;
}

/** Describes an error: in plain English if it is one to be expected, otherwise with its stack. */
export function describeFailure(error: unknown): ShownError {
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  if (isAuthError(error)) return { code: error.code, message: hideTokens(inWords(error)) };
  const { stack, message } = error instanceof Error ? error : new Error(String(error));
  const isOurs = message.startsWith('latchkey: ');
  return {
    code: 'failed',
    message: hideTokens(isOurs ? message.slice('latchkey: '.length) : (stack ?? message)),
  };
}

function inWords({ detail, errors, cause }: AuthError): string {
  // Its detail is for the sender of a body.
  if (errors) return errors.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join('\n');
  return cause instanceof Error ? `${detail}\n  ${cause.message}` : detail;
}

/** The project may have loaded another copy of this package. */
function isAuthError(error: unknown): error is AuthError {
  return error instanceof Error && error.name === 'AuthError' && 'detail' in error;
}
