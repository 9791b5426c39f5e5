import type { Command } from 'commander';
import { internalsOf } from '../auth.js';
import { type Chore, runChores } from '../database/chores.js';
import type { Acting, Call } from './call.js';
import { counted } from './output.js';

/** Adds `latchkey prune`. */
export function addPrune(parent: Command, acting: Acting): void {
  parent
    .command('prune')
    .description('Delete expired sessions, links, counters and other rows. Run it once a day.')
    .option('--dry-run', 'print how many rows would be deleted, and delete none')
    .action(
      acting(
        async (call) => {
          call.out.progress('Looking for expired rows …');
          await doChores(call, internalsOf(call.auth).chores.expired, { verb: 'deleted' });
        },
        { endsWithResult: true },
      ),
    );
}

/** Adds `latchkey rotate`. */
export function addRotate(parent: Command, acting: Acting): void {
  parent
    .command('rotate')
    .description(
      'Re-encrypt all encrypted data with the first secret of the config. Afterwards, you can remove the other secrets.',
    )
    .option('--dry-run', 'print how many rows would be re-encrypted, and change none')
    .action(
      acting(
        async (call) => {
          call.out.progress('Looking for rows that are encrypted with another secret …');
          await doChores(call, internalsOf(call.auth).chores.sealed, {
            verb: 're-encrypted',
            advice: 'Once every process uses this config, you can remove the other secrets from it.',
          });
        },
        { endsWithResult: true },
      ),
    );
}

/** The words that a command uses to report its work. */
interface Words {
  /** The past participle for the rows, such as `deleted`. */
  readonly verb: string;
  /** The advice to print once all rows have been processed. */
  readonly advice?: string;
}

/**
 * Runs chores, or with `--dry-run` only counts their rows. Prints the number of rows, in total and by table. After an
 * interrupt, these are the rows so far.
 */
async function doChores(
  { out, options, signal }: Call,
  chores: readonly Chore[],
  { verb, advice }: Words,
): Promise<void> {
  const { dryRun = false } = options as { dryRun?: boolean };
  const done = dryRun ? `would be ${verb}` : verb;
  const onProgress = (table: string, rows: number) => {
    if (rows > 0) out.progress(`${table}: ${counted(rows, 'row')} ${done} …`);
  };
  const { rows, tables } = await runChores(chores, dryRun, { signal, onProgress });
  const interrupted = signal.aborted;
  const lines = Object.entries(tables)
    .filter(([, count]) => count > 0)
    .map(([table, count]) => `  ${table}: ${count.toLocaleString('en')}`);
  const total = `${counted(rows, 'row')} ${done}`;
  if (interrupted) lines.push(`${total} before the interruption. Run the command again for the other rows.`);
  else lines.push([`${total}.`, ...(advice && !dryRun ? [advice] : [])].join(' '));
  out.result({ dryRun, rows, tables, ...(interrupted && { interrupted }) }, lines.join('\n'));
}
