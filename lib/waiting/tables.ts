import type { Transaction } from 'sequelize';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { keyOf } from '../tables/column.js';
import { coreTables } from '../tables/core.js';
import { Table, type TableDeclaration } from '../tables/table.js';
import { isWaiting, type OfUsers, type WaitingTable } from '../tables/waiting.js';
import type { CodeRequests } from './code-requests.js';

/** What the functions about all tables of waiting rows need. */
export interface WaitingTablesNeeds {
  readonly database: Database;
  readonly contributions: readonly HasTables[];
}

/** A plugin with tables of its own. */
export interface HasTables {
  /** The tables, by the names of their models. */
  readonly tables?: Readonly<Record<string, TableDeclaration>>;
}

/** Returns the chores that delete expired rows. */
export function expiredWaiting(needs: WaitingTablesNeeds): Chore[] {
  const { database } = needs;
  return waitingTables(needs).map(({ name, columns, waiting: { pruneAfterMs } }) => {
    const ages = { expires_at: pruneAfterMs };
    return new ExpiredRows(database, database.table(name), keyOf(columns).name, ages);
  });
}

/** Deletes everything that waits for a user, who is locked, and invalidates the codes for their address. */
export async function endWaiting(
  needs: WaitingTablesNeeds & { readonly codeRequests: Pick<CodeRequests, 'endFor'> | null },
  userId: string,
  transaction: Transaction,
): Promise<void> {
  for (const table of waitingTables(needs))
    if (isOfUsers(table)) await new Table(needs.database, table).delete({ userId }, transaction);
  await needs.codeRequests?.endFor(userId, transaction);
}

/** Whether the rows of a table can belong to users. */
function isOfUsers(table: WaitingTable): table is WaitingTable<Pick<OfUsers, 'userId'>> {
  return 'userId' in table.columns;
}

/** Returns the tables of the core and of plugins. */
function waitingTables({ contributions }: WaitingTablesNeeds): WaitingTable[] {
  const ofPlugins = contributions.flatMap(({ tables = {} }) => Object.values(tables));
  return [...Object.values(coreTables), ...ofPlugins].filter(isWaiting);
}
