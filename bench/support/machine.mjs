// What the figures were measured on, and with which code.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/** The repository's folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The folder of the bench. */
export const bench = fileURLToPath(new URL('..', import.meta.url));

/** A folder for databases, sockets and files of a run; ignored by git. */
export const data = `${bench}data`;

/** The cores that this process may use. */
export const cores = allowedCores();

/** The core of the measured server, if it has one of its own. */
export const serverCores = cores.length > 1 ? [cores[0]] : cores;

/** The cores of the load, the databases and the bench itself. */
export const otherCores = cores.length > 1 ? cores.slice(1) : cores;

/** @returns {{ cpu: string, cores: number, memoryGb: number, node: string, system: string }} */
export function machine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    system: `${process.platform} ${process.arch}`,
  };
}

/** The commit that is checked out, and whether files differ from it. */
export function commit() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git(
    'status',
    '--porcelain',
    '--untracked-files=no',
    '--',
    ':!bench/RESULTS.md',
    ':!README.md',
  );
  return git('rev-parse', '--short', 'HEAD') + (changed ? ' with uncommitted changes' : '');
}

function allowedCores() {
  try {
    const [, list] = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'));
    return list.split(',').flatMap((range) => {
      const [from, to = from] = range.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
  } catch {
    return cpus().map((_, index) => index);
  }
}
