#!/usr/bin/env node
/** The command `latchkey`. */
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './program.js';

// This file is two folders below package.json, both as source and in the package.
const folder = join(realpathSync(process.argv[1] ?? ''), '../../..');
const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };

void run(process.argv.slice(2), { version, folder }).then((code) => {
  // Exit explicitly, because the app's own connections might be open, but only after the output has been written.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
});
