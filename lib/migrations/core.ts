import { columnName } from '../tables/column.js';
import { users } from '../tables/core.js';
import { addColumns } from './create.js';
import type { Migration } from './migration.js';

const { emailProof } = users.columns;

/** The changes of the core's tables, for databases that were created before them. */
export const coreMigrations: readonly Migration[] = [
  {
    name: '0002-core',
    up: (context) => addColumns(users, { emailProof }, context),
    down: ({ database, run }) =>
      run(`ALTER TABLE ${database.table(users.name)} DROP COLUMN ${columnName('emailProof', emailProof)}`),
  },
];
