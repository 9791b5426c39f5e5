import { type Command, InvalidArgumentError } from 'commander';
import { internalsOf } from '../auth.js';
import { type Chore, runChores } from '../database/chores.js';
import type { Acting, Call } from './call.js';
import { counted, usageError } from './output.js';

/** Adds `latchkey prune`. */
export function addPrune(parent: Command, acting: Acting): void {
  parent
    .command('prune')
    .description('Delete expired sessions, links, counters and other rows. For a daily job.')
    .option('--dry-run', 'say how many rows would be deleted, and delete none')
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
      'Encrypt everything with the first secret of the config. Afterwards the other secrets can be removed.',
    )
    .option('--dry-run', 'say how many rows would be encrypted again, and change none')
    .action(
      acting(
        async (call) => {
          call.out.progress('Looking for rows that another secret has encrypted …');
          await doChores(call, internalsOf(call.auth).chores.sealed, {
            verb: 'encrypted again',
            advice: 'Older secrets can now be removed from the config, once every process has it.',
          });
        },
        { endsWithResult: true },
      ),
    );
}

/** What a command does with rows, in words. */
interface Words {
  /** What happened to the rows, as a past participle. */
  readonly verb: string;
  /** What can be done once all rows are treated. */
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

/** Adds `latchkey migrate`. */
export function addMigrate(parent: Command, acting: Acting): void {
  parent
    .command('migrate')
    .description(
      'Create and update the tables. Any number of processes may do so at once: one migrates, the others wait.',
    )
    .option('--dry-run', 'print which migrations would run, and change nothing')
    .option(
      '--undo <count>',
      'undo this many migrations, or all; the data in their tables is lost',
      readCount,
    )
    .option('--yes', 'confirm --undo')
    .action(acting(migrate));
}

async function migrate({ auth, out, options }: Call): Promise<void> {
  const { undo = 0, dryRun = false } = options as { undo?: number | 'all'; dryRun?: boolean };
  if (undo !== 0 && !dryRun && !options.yes)
    throw usageError(
      '--undo drops tables with all their data: add --yes to do that, or --dry-run to see which',
    );
  const migrations = await auth.migrate({ undo, dryRun });
  const what = undo === 0 ? ['Applied', 'Would apply'] : ['Undone', 'Would undo'];
  const list = migrations.map((name) => `\n  ${name}`).join('');
  const none = undo === 0 ? 'The tables are up to date.' : 'There is nothing to undo.';
  out.result({ migrations, dryRun }, list ? `${what[Number(dryRun)]}:${list}` : none);
}

function readCount(text: string): number | 'all' {
  if (text === 'all') return text;
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('It must be a number, or all.');
  return Number(text);
}
