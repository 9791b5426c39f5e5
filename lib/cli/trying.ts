import type { Transaction } from 'sequelize';
import { internalsOf } from '../auth.js';
import type { Call } from './call.js';

/** Makes a change. With `--dry-run`, in a transaction that is rolled back, so that it sends no emails and events either. */
export async function trying<T>(
  { auth, options }: Call,
  change: (transaction: Transaction | undefined) => Promise<T>,
): Promise<T> {
  if (!options.dryRun) return change(undefined);
  const { sequelize, dialect } = internalsOf(auth).core.database;
  const type = 'IMMEDIATE' as Transaction.TYPES;
  const transaction = await sequelize.transaction(dialect === 'sqlite' ? { type } : {});
  try {
    return await change(transaction);
  } finally {
    await transaction.rollback();
  }
}
