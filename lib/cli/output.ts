import { hideTokens } from '../crypto/token.js';
import type { AuthError } from '../errors.js';
import { performance } from '../timers.js';

/** The exit codes. */
export const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** An error whose message the user sees instead of a stack trace. */
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

/** Creates the error for a call with invalid arguments. */
export function usageError(message: string): Refusal {
  return new Refusal(message, 'usage', EXIT.usage);
}

/** An error as it is shown. */
export interface ShownError {
  readonly code: string;
  readonly message: string;
}

/** Describes an error: in plain English if it is expected, otherwise with its stack. */
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
  // The detail of such an error is about the body of a request, so it is left out.
  if (errors) return errors.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join('\n');
  return cause instanceof Error ? `${detail}\n  ${cause.message}` : detail;
}

/** Does not use `instanceof`, because the project might have loaded another copy of this package. */
function isAuthError(error: unknown): error is AuthError {
  return error instanceof Error && error.name === 'AuthError' && 'detail' in error;
}

/** The streams that a command writes to. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** How often progress is written to a stderr that is not a terminal. */
const PROGRESS_MS = 10_000;

/** The output of a command: its result on stdout, as text or as one JSON document, and everything else on stderr. */
export class Output {
  #hasProgress = false;
  #progressAt = performance.now();

  /** @param progressMs how often progress is written to a stderr that is not a terminal */
  constructor(
    private readonly streams: Streams,
    readonly isJson: boolean,
    private readonly progressMs = PROGRESS_MS,
  ) {}

  /** Writes the result of the command. @param text the same result, for people */
  result(value: object, text: string): void {
    this.endProgress();
    this.streams.stdout.write(`${this.isJson ? JSON.stringify(value) : printable(text)}\n`);
  }

  /** Writes a note in addition to the result. */
  note(text: string): void {
    this.endProgress();
    if (!this.isJson) this.streams.stderr.write(`${printable(text)}\n`);
  }

  /**
   * Shows the progress of the command. On a terminal, each progress replaces the previous one. Elsewhere, a new line is
   * written every ten seconds.
   */
  progress(text: string): void {
    const { stderr } = this.streams;
    if (stderr.isTTY) {
      stderr.write(`\r\x1b[K${printable(text)}`);
      this.#hasProgress = true;
    } else if (performance.now() - this.#progressAt >= this.progressMs) {
      stderr.write(`${printable(text)}\n`);
      this.#progressAt = performance.now();
    }
  }

  endProgress(): void {
    if (this.#hasProgress) this.streams.stderr.write('\r\x1b[K');
    this.#hasProgress = false;
  }

  failure(error: ShownError): void {
    this.endProgress();
    if (this.isJson) this.streams.stdout.write(`${JSON.stringify({ error })}\n`);
    else this.streams.stderr.write(`latchkey: ${printable(error.message)}\n`);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they could come from a user and make the terminal show anything
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

function printable(text: string): string {
  return text.replace(CONTROL, '\ufffd');
}

/** Escapes control characters in JSON, so that it can be printed and keeps its meaning. */
export function escaped(json: string): string {
  return json.replace(CONTROL, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `1,234 rows`, `1 row`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}`;
}
