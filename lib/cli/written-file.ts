import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Refusal, usageError } from './output.js';

/** A file that a command writes into the app, and that the app's formatter can change. */
export class WrittenFile {
  private constructor(
    private readonly given: string,
    private readonly example: string,
    /** The content. Empty if there is no file. */
    readonly present: string,
  ) {}

  /**
   * Reads the file, if it exists.
   *
   * @param given the path, as `--out` contains it
   * @param example a path that is right, for error messages
   * @throws Refusal if it cannot be read
   */
  static async read(given: string, example: string): Promise<WrittenFile> {
    const present = await readFile(resolve(given), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw fileError(given, example, 'read', error);
    });
    return new WrittenFile(given, example, present);
  }

  get file(): string {
    return resolve(this.given);
  }

  /** The path for messages. */
  get shown(): string {
    return relative(process.cwd(), this.file);
  }

  /** Whether the file has this source, apart from its format. */
  isSame(source: string): boolean {
    return withoutFormat(this.present) === withoutFormat(source);
  }

  /** Writes the file, and creates its folder. @throws Refusal if it cannot be written */
  async write(source: string): Promise<void> {
    try {
      await mkdir(dirname(this.file), { recursive: true });
      await writeFile(this.file, source);
    } catch (error) {
      throw fileError(this.given, this.example, 'written', error as NodeJS.ErrnoException);
    }
  }
}

function fileError(
  given: string,
  path: string,
  verb: string,
  { code, message }: NodeJS.ErrnoException,
): Refusal {
  const example = code === 'EISDIR' ? join(given, basename(path)) : path;
  return usageError(
    `--out: ${given} cannot be ${verb}: ${message}. Pass the path of a file that can be written, such as ${example}`,
  );
}

/** Removes the characters that a formatter can change from a source. */
function withoutFormat(source: string): string {
  return source.replace(/[\s;,"'()]/g, '').replaceAll(':|', ':');
}
