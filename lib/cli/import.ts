import type { Command } from 'commander';
import type { ImportRow } from '../users/imported.js';
import type { Acting, Call } from './call.js';
import { counted } from './output.js';
import { readRows } from './rows.js';

const MAX_SHOWN = 50;

/** `latchkey import`. */
export function addImport(parent: Command, acting: Acting): void {
  parent
    .command('import')
    .description('Import accounts from another system. An import that broke off can be run again.')
    .argument(
      '<file>',
      'JSON lines or a JSON array of users, a module whose default export is users, or - for stdin',
    )
    .option('--dry-run', 'do everything, and roll it back')
    .action(acting(importAll));
}

async function importAll({ auth, out, options, args: [file = ''], signal, fail }: Call): Promise<void> {
  const { dryRun = false } = options as { dryRun?: boolean };
  const { users, skipped } = await auth.importUsers(untilAborted(readRows(file), signal), {
    dryRun,
    onProgress: ({ rows, imported, skipped }) =>
      out.progress(`${counted(rows, 'row')}: ${imported} imported, ${skipped} skipped …`),
  });
  const lines = skipped.slice(0, MAX_SHOWN).map(({ ref, code, detail }) => `  ${ref}: ${code}: ${detail}`);
  const more = skipped.length - lines.length;
  if (more > 0) lines.push(`  … and ${more.toLocaleString('en')} more, which --json lists`);
  const imported = `${counted(users.length, 'account')} ${dryRun ? 'would be imported' : 'imported'}`;
  const summary = `${imported}, ${counted(skipped.length, 'row')} skipped.`;
  out.result(
    { dryRun, users: users.map(printable), skipped: skipped.map(printable) },
    [...lines, summary].join('\n'),
  );
  if (skipped.length > 0) fail();
}

/** JSON has no large integers. */
function printable<T extends { readonly ref: unknown }>(one: T): T {
  return { ...one, ref: typeof one.ref === 'bigint' ? String(one.ref) : one.ref };
}

/** Ends when the user interrupts the command: what has been read is imported, and the rest when it is run again. */
async function* untilAborted(rows: AsyncIterable<unknown>, signal: AbortSignal): AsyncGenerator<ImportRow> {
  for await (const row of rows) {
    signal.throwIfAborted();
    // The import checks each.
    yield row as ImportRow;
  }
}
