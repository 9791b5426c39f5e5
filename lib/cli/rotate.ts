import type { Command } from 'commander';
import { internalsOf } from '../auth.js';
import type { Acting } from './call.js';
import { doChores } from './chores.js';

/** `latchkey rotate`. */
export function addRotate(parent: Command, acting: Acting): void {
  parent
    .command('rotate')
    .description(
      'Encrypt everything with the first secret of the config. Afterwards the other secrets can be removed.',
    )
    .option('--dry-run', 'say how many rows would be encrypted again, and change none')
    .action(
      acting(async (call) => {
        call.out.progress('Looking for what another secret has encrypted …');
        const { sealed } = internalsOf(call.auth).chores;
        await doChores(call, sealed, (rows, dryRun) =>
          dryRun
            ? `${rows} would be encrypted again.`
            : `${rows} encrypted again. Older secrets can now be removed from the config, once every process has it.`,
        );
      }),
    );
}
