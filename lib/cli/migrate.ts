import { type Command, InvalidArgumentError, Option } from 'commander';
import { internalsOf } from '../auth.js';
import { pendingScript, type ScriptSection } from '../migrations/script.js';
import type { Acting, Call } from './call.js';
import { usageError } from './output.js';

/** Adds `latchkey migrate`. */
export function addMigrate(parent: Command, acting: Acting): void {
  parent
    .command('migrate')
    .description(
      'Create and update the tables. Any number of processes can run this at the same time: one migrates, and the others wait.',
    )
    .option('--dry-run', 'print which migrations would run, and change nothing')
    .addOption(
      new Option('--status', 'list the migrations; the exit code is 1 if one is pending').conflicts([
        'dryRun',
        'sql',
        'undo',
      ]),
    )
    .addOption(
      new Option('--sql', 'print the SQL of the pending migrations, and change nothing').conflicts([
        'dryRun',
        'undo',
      ]),
    )
    .option(
      '--undo <count>',
      'undo this many migrations, or all; the data in their tables is lost',
      readCount,
    )
    .option('--yes', 'confirm --undo')
    .action(acting(run));
}

function run(call: Call): Promise<void> {
  if (call.options.status) return printStatus(call);
  return call.options.sql ? printSql(call) : migrate(call);
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
  const none = undo === 0 ? UP_TO_DATE : 'There is nothing to undo.';
  out.result({ migrations, dryRun }, list ? `${what[Number(dryRun)]}:${list}` : none);
}

const UP_TO_DATE = 'The tables are up to date.';

async function printStatus({ auth, out, fail }: Call): Promise<void> {
  const pending = await auth.migrate({ dryRun: true });
  const done = internalsOf(auth)
    .migrations.map(({ name }) => name)
    .filter((name) => !pending.includes(name));
  const lines = [...done.map((name) => `done     ${name}`), ...pending.map((name) => `pending  ${name}`)];
  const summary = pending.length === 0 ? UP_TO_DATE : 'To apply them: npx latchkey migrate';
  out.result({ done, pending }, [...lines, summary].join('\n'));
  if (pending.length > 0) fail();
}

async function printSql({ auth, out }: Call): Promise<void> {
  const { core, migrations } = internalsOf(auth);
  const parts = await pendingScript(core.database, migrations, core.users.fieldColumns);
  out.result(
    { parts },
    [...(parts.length > 0 ? HEADING : [`-- ${UP_TO_DATE}`]), ...parts.map(inSql)].join('\n'),
  );
}

const HEADING = [
  '-- The pending migrations of latchkey. Run every statement once, in this order. latchkey migrate runs the same',
  '-- statements, but also yields to transactions of your app, and can complete an interrupted migration. A script cannot.',
];

function inSql({ name, statements }: ScriptSection): string {
  const lines = statements.map(({ sql, note }) => `${note === null ? '' : `-- ${note}\n`}${sql.trim()};`);
  return [`\n-- ${name}`, ...lines].join('\n');
}

function readCount(text: string): number | 'all' {
  if (text === 'all') return text;
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, or all.');
  return Number(text);
}
