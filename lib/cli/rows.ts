import { createReadStream, existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Refusal, usageError } from './failure.js';
import { importFile } from './project.js';

type Rows = AsyncIterable<unknown> | Iterable<unknown>;

/**
 * Reads the rows of an import.
 *
 * @param source a file of JSON lines, or with a JSON array; a module whose default export is rows, or a function that
 *   returns them; or `-` for stdin
 * @throws Refusal naming the line that is wrong
 */
export async function* readRows(source: string): AsyncGenerator<unknown> {
  if (source === '-') return yield* parse(process.stdin, 'stdin');
  const file = resolve(source);
  if (!existsSync(file)) throw usageError(`there is no file ${file}`);
  if (/\.[cm]?[jt]s$/.test(file)) yield* await rowsOf(file);
  else yield* parse(createReadStream(file), basename(file));
}

async function rowsOf(file: string): Promise<Rows> {
  const exported = await importFile(file);
  const given = unwrapped(exported.default);
  const rows = await (typeof given === 'function' ? given() : given);
  if (typeof rows === 'object' && rows !== null && (Symbol.iterator in rows || Symbol.asyncIterator in rows))
    return rows as Rows;
  throw new Refusal(
    `${basename(file)}: the default export must be the rows, as an array or an async iterable, or a function that returns them`,
  );
}

/** What a CommonJS module, compiled from an ES module, exports by default. */
function unwrapped(given: unknown): unknown {
  const { __esModule: isCompiled, default: inner } = (given ?? {}) as {
    __esModule?: boolean;
    default?: unknown;
  };
  return isCompiled ? inner : given;
}

async function* parse(stream: Readable, name: string): AsyncGenerator<unknown> {
  let number = 0;
  let array = '';
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (array || (number === 1 && /^\s*\[/.test(line))) array += `${line}\n`;
    else if (line.trim() !== '') yield parseJson(line, `${name}:${number}`);
  }
  if (array) yield* parseJson(array, name) as readonly unknown[];
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the text, which Node's message quotes: it contains hashes.
    throw new Refusal(`${where} is not JSON. Give one user on each line, or one array of them`);
  }
}
