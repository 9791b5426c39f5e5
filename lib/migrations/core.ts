import { accountChanges, carriedSessions, devices, deviceTokens, users } from '../tables/core.js';
import { addColumns, createIndexes, createTable, dropColumns, dropIndexes, dropTable } from './create.js';
import type { Migration } from './migration.js';

const { emailProof, importedAt, firstUsedAt } = users.columns;
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
      const { database, run } = context;
      await run(`UPDATE ${database.table(devices.name)} SET dropped = TRUE WHERE forgotten_at IS NOT NULL`);
    },
    async down(context) {
      // Without the later tokens, a first one that is accepted no longer would be the present one again.
      const { database, run } = context;
      const isRenewed = 'token_until IS NOT NULL AND forgotten_at IS NULL';
      await run(`UPDATE ${database.table(devices.name)} SET forgotten_at = last_used_at WHERE ${isRenewed}`);
      await dropTable(deviceTokens, context);
      for (const { table, columns, indexes } of UNDO) {
        await dropIndexes(table, indexes, context);
        await dropColumns(table, columns, context);
      }
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
];
