#!/usr/bin/env node
/** The command `latchkey`. */
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './program.js';

// This file is two folders below it, as source and in the package.
const packageJson = join(realpathSync(process.argv[1] ?? ''), '../../../package.json');
const { version } = JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string };

void run(process.argv.slice(2), version).then((code) => {
  // The app's own connections may be open. What has been written to a pipe may not have been read yet.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
});
