import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where the app stores files that it needs after a restart. git ignores it, and only its owner can read it. */
const folder = resolve(process.env.DEMO_DATA ?? join(import.meta.dirname, 'data'));

export function inDataFolder(name: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, name);
}

/** Returns the content of a file in the data directory, and creates the file if it does not exist. */
export function kept(name: string, make: () => string): string {
  const file = inDataFolder(name);
  try {
    // `wx` fails if the file exists. If two processes start at the same time, one creates it and both read the same.
    writeFileSync(file, `${make()}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8').trim();
}

export function randomText(): string {
  return randomBytes(32).toString('base64url');
}
