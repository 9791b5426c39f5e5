import type { Command } from 'commander';
import { internalsOf } from '../auth.js';
import type { Acting } from './call.js';
import { doChores } from './chores.js';

/** `latchkey prune`. */
export function addPrune(parent: Command, acting: Acting): void {
  parent
    .command('prune')
    .description('Delete what has expired: sessions, links, counters and the like. For a daily job.')
    .option('--dry-run', 'say how many rows would go, and delete none')
    .action(
      acting(async (call) => {
        call.out.progress('Looking for what has expired …');
        const { expired } = internalsOf(call.auth).chores;
        await doChores(call, expired, (rows, dryRun) =>
          dryRun ? `${rows} would be deleted.` : `${rows} deleted.`,
        );
      }),
    );
}
