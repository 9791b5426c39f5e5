import { type Chore, runChores } from '../database/chore.js';
import type { Call } from './call.js';
import { counted } from './output.js';

/**
 * Does chores; with `--dry-run`, only counts what they would treat. Says how many rows, and in which tables.
 *
 * @param inWords the result, of a number of rows such as `3 rows`
 */
export async function doChores(
  { out, options }: Call,
  chores: readonly Chore[],
  inWords: (rows: string, dryRun: boolean) => string,
): Promise<void> {
  const { dryRun = false } = options as { dryRun?: boolean };
  const { rows, tables } = await runChores(chores, dryRun);
  const lines = Object.entries(tables)
    .filter(([, count]) => count > 0)
    .map(([table, count]) => `  ${table}: ${count.toLocaleString('en')}`);
  out.result({ dryRun, rows, tables }, [...lines, inWords(counted(rows, 'row'), dryRun)].join('\n'));
}
