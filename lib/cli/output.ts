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

/** Where a command writes. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** What a command says: its result on stdout, as text or as one JSON document; everything else on stderr. */
export class Output {
  #hasProgress = false;

  constructor(
    private readonly streams: Streams,
    readonly isJson: boolean,
  ) {}

  /** The result of the command. @param text the same for people */
  result(value: object, text: string): void {
    this.endProgress();
    this.streams.stdout.write(`${this.isJson ? JSON.stringify(value) : printable(text)}\n`);
  }

  /** Something to know beside the result. */
  note(text: string): void {
    this.endProgress();
    if (!this.isJson) this.streams.stderr.write(`${printable(text)}\n`);
  }

  /** How far the command is. Only a terminal shows it, on a line that the next one replaces. */
  progress(text: string): void {
    if (!this.streams.stderr.isTTY) return;
    this.streams.stderr.write(`\r\x1b[K${printable(text)}`);
    this.#hasProgress = true;
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

/** What users have written may contain control characters, with which a terminal can be made to show anything. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** `1,234 rows`, `1 row`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}`;
}
