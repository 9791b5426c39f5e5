import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Output } from './output.js';

/** `latchkey secret`, which needs no config. */
export function addSecret(parent: Command, output: (isJson: boolean) => Output): void {
  parent
    .command('secret')
    .description('Print a new secret for the config: 32 random bytes, as text. It needs no config.')
    .action((_options, command: Command) => {
      const secret = randomBytes(32).toString('base64url');
      output(command.optsWithGlobals().json === true).result({ secret }, secret);
    });
}
