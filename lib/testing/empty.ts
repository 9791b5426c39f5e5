import { type AnyAuth, internalsOf } from '../auth.js';
import type { Core } from '../core/core.js';
import { isForeignKeyViolation } from '../database/faults.js';
import { columnOf, quotedTable } from '../users/app-model.js';

/** Deletes the rows of all tables, given by their models, and the app's rows of users. @throws like `Testing.reset` */
export async function emptyTables(auth: AnyAuth, models: object): Promise<void> {
  const { core } = internalsOf(auth);
  requireDatabaseForTests(core);
  await core.settle();
  const { database, users } = core;
  const { name: usersTable } = users.table;
  const names = Object.values(models).map((model) => String(model.getTableName()));
  const statements = names.filter((name) => name !== usersTable).map((name) => `DELETE FROM ${name}`);
  if (users.rows) {
    const { model, foreignKey } = users.rows;
    const { queryGenerator } = model.sequelize.getQueryInterface() as never as Quoting;
    const column = queryGenerator.quoteIdentifier(columnOf(model, foreignKey));
    statements.push(`DELETE FROM ${quotedTable(model)} WHERE ${column} IS NOT NULL`);
  }
  statements.push(`DELETE FROM ${usersTable}`);
  try {
    await database.transaction(async (transaction) => {
      for (const sql of statements) await database.change(sql, undefined, { transaction });
    });
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    const what = 'rows of the app refer to users, and may not go with them. Delete those rows first';
    throw new Error(`latchkey: auth.testing.reset: ${what}`, { cause: error });
  }
}

interface Quoting {
  readonly queryGenerator: { quoteIdentifier(name: string): string };
}

/** An app's own config may name the database that its developer works with. */
function requireDatabaseForTests({ database, settings }: Core): void {
  const { config, options } = database.sequelize as unknown as {
    config: { database?: string | null };
    options: { storage?: string };
  };
  const name = (database.dialect === 'sqlite' ? options.storage : config.database) ?? '';
  if (name === ':memory:' || /test/i.test(`${name} ${settings.tablePrefix}`)) return;
  throw new Error(
    `latchkey: auth.testing.reset: the database ${name} may be one whose data you need. ` +
      "Use one that has 'test' in its name, or set tablePrefix to 'test_', or leave database out",
  );
}
