import { unfinishedSignIns } from '../tables/core.js';
import { addColumns, dropColumns } from './create.js';
import type { Migration } from './migration.js';

const mailedCodes = { sentAt: unfinishedSignIns.columns.sentAt };

/** The changes of the core's tables since the first version, for databases that were created before them. */
export const coreMigrations: readonly Migration[] = [
  {
    name: '0002-core',
    up: (context) => addColumns(unfinishedSignIns, mailedCodes, context),
    down: (context) => dropColumns(unfinishedSignIns, mailedCodes, context),
  },
];
