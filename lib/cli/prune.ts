import type { Command } from 'commander';
import type { Acting } from './call.js';
import { counted } from './output.js';

/** `latchkey prune`. */
export function addPrune(parent: Command, acting: Acting): void {
  parent
    .command('prune')
    .description('Delete what has expired: sessions, links, counters and the like. For a daily job.')
    .action(
      acting(async ({ auth, out }) => {
        out.progress('Deleting what has expired …');
        const rows = await auth.prune();
        out.result({ rows }, `${counted(rows, 'row')} deleted.`);
      }),
    );
}
