import { devices, unfinishedSignIns } from '../tables/core.js';
import { addColumns, dropColumns } from './create.js';
import type { Migration } from './migration.js';

const mailedCodes = { sentAt: unfinishedSignIns.columns.sentAt };
const { trustedUntil, trustedEpoch } = devices.columns;
const trustedDevices = { trustedUntil, trustedEpoch };

/** The changes of the core's tables since the first version, for databases that were created before them. */
export const coreMigrations: readonly Migration[] = [
  {
    name: '0002-core',
    up: (context) => addColumns(unfinishedSignIns, mailedCodes, context),
    down: (context) => dropColumns(unfinishedSignIns, mailedCodes, context),
  },
  {
    name: '0003-core',
    up: (context) => addColumns(devices, trustedDevices, context),
    down: (context) => dropColumns(devices, trustedDevices, context),
  },
];
