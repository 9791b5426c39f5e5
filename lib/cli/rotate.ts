import type { Command } from 'commander';
import type { Acting } from './call.js';
import { counted } from './output.js';

/** `latchkey rotate`. */
export function addRotate(parent: Command, acting: Acting): void {
  parent
    .command('rotate')
    .description(
      'Encrypt everything with the first secret of the config. Afterwards the other secrets can be removed.',
    )
    .action(
      acting(async ({ auth, out }) => {
        out.progress('Encrypting with the first secret …');
        const rows = await auth.rotateSecrets();
        out.result(
          { rows },
          `${counted(rows, 'row')} encrypted again. Older secrets can now be removed from the config, once every process has it.`,
        );
      }),
    );
}
