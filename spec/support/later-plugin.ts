import {
  addColumns,
  addsUserColumns,
  changeRows,
  createIndexes,
  createTable,
  dropColumns,
  dropIndexes,
  dropTable,
} from '../../lib/migrations/create.js';
import { definePlugin } from '../../lib/plugin.js';
import { column } from '../../lib/tables/column.js';
import { users } from '../../lib/tables/core.js';
import { declareTable } from '../../lib/tables/table.js';

const exported = 'It belongs to a spec.';

const reportsTable = declareTable({
  name: 'reports',
  exported,
  columns: { id: column.uuid(), userId: column.uuid() },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId'] },
});

const userColumns = { mayReport: column.boolean().nullable().exported() };

/** A plugin with a table that references a table of the core, and with a column of users. */
export const reports = definePlugin({
  name: 'reports',
  userColumns,
  setup: () => ({ api: null, tables: { Report: reportsTable } }),
});

const added = { note: column.text(40).nullable(), sentAt: column.time().nullable() };
const addedIndexes = { sentAt: ['sentAt'] } as const;
const addedToUsers = { reportedAt: column.time().nullable().exported() };

const laterReportsTable = declareTable({
  ...reportsTable,
  exported,
  columns: { ...reportsTable.columns, ...added },
  indexes: { ...reportsTable.indexes, ...addedIndexes },
});

const reportFilesTable = declareTable({
  name: 'report_files',
  exported,
  columns: { id: column.uuid(), reportId: column.uuid() },
  foreignKeys: { reportId: laterReportsTable },
  indexes: { reportId: ['reportId'] },
});

/** What a later version of {@link reports} declares. */
const later = {
  name: 'reports',
  userColumns: { ...userColumns, ...addedToUsers },
  tables: { Report: laterReportsTable, ReportFile: reportFilesTable },
} as const;

/** A later version of {@link reports}, whose migrations do everything that later migrations can do. */
export const laterReports = definePlugin({
  name: later.name,
  userColumns: later.userColumns,
  setup: () => ({
    api: null,
    tables: later.tables,
    migrations: [
      {
        name: '0002-reports',
        async up(context) {
          await addColumns(laterReportsTable, added, context);
          await createIndexes(laterReportsTable, addedIndexes, context);
          await createTable(reportFilesTable, context);
          await changeRows(laterReportsTable, "note = 'none'", 'note IS NULL', context);
        },
        async down(context) {
          await dropTable(reportFilesTable, context);
          await dropIndexes(laterReportsTable, addedIndexes, context);
          await dropColumns(laterReportsTable, added, context);
        },
      },
      addsUserColumns('0003-reports', addedToUsers),
    ],
  }),
});

/** A mistake: the declarations have changed without a migration. */
export const reportsWithoutMigrations = definePlugin({
  name: later.name,
  userColumns: later.userColumns,
  setup: () => ({ api: null, tables: later.tables }),
});
