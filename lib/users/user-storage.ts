import type { Settings } from '../config/settings.js';
import type { Database } from '../database/database.js';
import type { Columns } from '../tables/column.js';
import { Table, type TableDeclaration } from '../tables/table.js';
import { closedColumns, type UserColumns, usersWith } from '../tables/user.js';
import { checkModel } from './app-model.js';
import { Fields, type FieldValues } from './core-fields.js';
import { type UserSelections, userSelections } from './record.js';
import { AppRows } from './rows.js';
import { Users } from './users.js';

/** Where users are stored. */
export class UserStorage {
  /** The fields that the app adds. */
  readonly fields: Fields;
  /** The table of users, with the columns of plugins, and of the fields unless these are in the app's rows. */
  readonly userTable: TableDeclaration<UserColumns>;
  /** The columns of users and the fields, wherever these are stored. */
  readonly userColumns: Columns;
  /** Users with their fields, wherever these are stored. */
  readonly selections: UserSelections;
  readonly users: Users;
  /** What `auth.migrate()` does for the fields. */
  readonly fieldColumns: {
    readonly columns: Columns;
    readonly defaults: FieldValues;
    check?(): Promise<void>;
  };

  /** @throws TypeError if the app's model cannot hold its users */
  constructor(
    database: Database,
    settings: Pick<Settings, 'database' | 'user' | 'hooks' | 'accountDeletion'>,
    columnsOfPlugins: readonly Columns[],
  ) {
    const closed = settings.accountDeletion.graceDays > 0 ? closedColumns : {};
    this.fields = new Fields(settings.user.fields);
    const rows = appRows(database, settings, this.fields);
    this.userTable = usersWith(closed, rows ? {} : this.fields.columns, ...columnsOfPlugins);
    this.userColumns = usersWith(closed, this.fields.columns, ...columnsOfPlugins).columns;
    const table = new Table(database, this.userTable);
    this.selections = userSelections(database, table, rows, this.fields);
    this.users = new Users(database, table, this.selections, rows, settings.hooks);
    // The app's own rows are the app's to migrate.
    this.fieldColumns = rows
      ? { columns: {}, defaults: {}, check: () => rows.check() }
      : { columns: this.fields.columns, defaults: this.fields.defaults };
  }
}

function appRows(
  database: Database,
  { database: given, user: { model, foreignKey }, hooks }: Pick<Settings, 'database' | 'user' | 'hooks'>,
  fields: Fields,
): AppRows | null {
  if (!model) {
    if (hooks.createRow) throw new TypeError('latchkey: hooks.createRow is for user.model: set that too');
    return null;
  }
  const checked = checkModel(model, { foreignKey, fields: fields.names, database: given });
  return new AppRows(database, checked, foreignKey, fields);
}
