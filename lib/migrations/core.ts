import {
  accountChanges,
  carriedSessions,
  devices,
  deviceTokens,
  importedUsers,
  importKeys,
  recentBrowsers,
  unfinishedSignIns,
  users,
} from '../tables/core.js';
import {
  addColumns,
  changeRows,
  createIndexes,
  createTable,
  dropColumns,
  dropIndexes,
  dropTable,
} from './create.js';
import type { Migration } from './migration.js';

const { emailProof, importedAt, firstUsedAt, usernameDisplay, newPasswordRequiredAt } = users.columns;
const { tokenUntil, name, dropped } = devices.columns;
const { ended, device, ipAddress } = accountChanges.columns;

/** What `0003-core` adds: the age of imported accounts, the browsers that prove who undoes a change, and the list of changes. */
const UNDO = [
  { table: users, columns: { importedAt, firstUsedAt }, indexes: {} },
  { table: devices, columns: { tokenUntil, name, dropped }, indexes: {} },
  {
    table: accountChanges,
    columns: { ended, device, ipAddress },
    indexes: { ended: ['ended', 'expiresAt'] },
  },
] as const;

const { salt, ...withoutSalt } = unfinishedSignIns.columns;

const { sessionsEndedAt } = users.columns;
const { sessionId, authEpoch, sealedId } = carriedSessions.columns;

/** What `0005-core` adds: sessions of previous systems that continue, and when the sessions of an account were ended. */
const KEPT = [
  { table: users, columns: { sessionsEndedAt }, indexes: {} },
  {
    table: carriedSessions,
    columns: { sessionId, authEpoch, sealedId },
    indexes: { sessionId: ['sessionId'] },
  },
] as const;

/** The changes of the core's tables, for databases that were created before them. */
export const coreMigrations: readonly Migration[] = [
  {
    name: '0002-core',
    up: (context) => addColumns(users, { emailProof }, context),
    down: (context) => dropColumns(users, { emailProof }, context),
  },
  {
    name: '0003-core',
    async up(context) {
      for (const { table, columns, indexes } of UNDO) {
        await addColumns(table, columns, context);
        await createIndexes(table, indexes, context);
      }
      await createTable(deviceTokens, context);
      // Until now, a forgotten device has proven nothing about later changes. It can be that of an intruder.
      await changeRows(devices, 'dropped = TRUE', 'forgotten_at IS NOT NULL', context);
    },
    async down(context) {
      // Without the later tokens, a first one that is accepted no longer would be the present one again.
      const isRenewed = 'token_until IS NOT NULL AND forgotten_at IS NULL';
      await changeRows(devices, 'forgotten_at = last_used_at', isRenewed, context);
      await dropTable(deviceTokens, context);
      for (const { table, columns, indexes } of UNDO) {
        await dropIndexes(table, indexes, context);
        await dropColumns(table, columns, context);
      }
    },
  },
  {
    name: '0004-core',
    async up(context) {
      await createTable(importedUsers, context);
      await createTable(importKeys, context);
    },
    async down(context) {
      await dropTable(importKeys, context);
      await dropTable(importedUsers, context);
    },
  },
  {
    name: '0005-core',
    async up(context) {
      for (const { table, columns, indexes } of KEPT) {
        await addColumns(table, columns, context);
        await createIndexes(table, indexes, context);
      }
    },
    async down(context) {
      for (const { table, columns, indexes } of KEPT) {
        await dropIndexes(table, indexes, context);
        await dropColumns(table, columns, context);
      }
    },
  },
  {
    name: '0006-core',
    up: (context) => addColumns(users, { usernameDisplay }, context),
    down: (context) => dropColumns(users, { usernameDisplay }, context),
  },
  {
    name: '0007-core',
    async up(context) {
      await addColumns(users, { newPasswordRequiredAt }, context);
      await createTable(recentBrowsers, context);
      await createTable({ ...unfinishedSignIns, columns: withoutSalt }, context);
    },
    async down(context) {
      await dropTable(unfinishedSignIns, context);
      await dropTable(recentBrowsers, context);
      await dropColumns(users, { newPasswordRequiredAt }, context);
    },
  },
  {
    name: '0008-core',
    up: (context) => addColumns(unfinishedSignIns, { salt }, context),
    down: (context) => dropColumns(unfinishedSignIns, { salt }, context),
  },
];
