import { type Command, InvalidArgumentError } from 'commander';
import type { Acting, Call } from './call.js';
import { usageError } from './failure.js';

/** `latchkey migrate`. */
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
