import type { ShownError } from './failure.js';

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
