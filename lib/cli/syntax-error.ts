import { spawnSync } from 'node:child_process';
import { Refusal } from './output.js';

/** The time in which Node finds a syntax error again. It finds the error before it runs any module. */
const TIMEOUT_MS = 10_000;

/** The position that Node writes before a syntax error: the file with its line, and then the code. */
const POSITION = /^(?:file:\/\/)?(\/.+|[A-Za-z]:.+):(\d+)\n(.*\n *\^+)\s*\n/m;

/** The position that tsx writes within its error. */
const TSX_POSITION = /^(.+):(\d+):\d+: ERROR: (.+)$/m;

/**
 * Describes a syntax error in a module of the project, with the file and the line. Null if it is another error.
 *
 * @param file the module that was imported. The error can be in a module that it imports
 */
export function describeSyntaxError(error: unknown, file: string): Refusal | null {
  if (!(error instanceof Error)) return null;
  const [, transformed, at, reason] = TSX_POSITION.exec(error.message) ?? [];
  if (error.name === 'TransformError' && transformed !== undefined)
    return new Refusal(`${transformed}, line ${at}: ${reason}`);
  if (!(error instanceof SyntaxError)) return null;
  // The stack has no position if the module is an ES module.
  const [, path, line, code] = POSITION.exec(error.stack ?? '') ?? POSITION.exec(printedByNode(file)) ?? [];
  return path === undefined ? null : new Refusal(`${path}, line ${line}: ${error.message}\n${code}`);
}

/** Returns what Node prints about the error, which includes the position. */
function printedByNode(file: string): string {
  const { stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: TIMEOUT_MS });
  return stderr;
}
