import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transaction } from 'sequelize';
import { type AnyAuth, internalsOf } from '../../lib/auth.js';

const around = new AsyncLocalStorage<Transaction>();

/**
 * Returns a list that collects the statements that code within one of the Auth's own transactions sends outside the
 * transaction. If code forgets to pass a transaction, there is no other symptom until a statement waits for a lock.
 */
export function straysOf(auth: AnyAuth): string[] {
  const strays: string[] = [];
  const { database } = internalsOf(auth).core;
  const { transaction, statements } = database;
  const { send } = statements;
  database.transaction = (work) =>
    transaction.call(database, (own) => around.run(own, () => work(own))) as never;
  statements.send = (sql, type, replacements, options) => {
    const own = around.getStore();
    if (own && options.transaction !== own) strays.push(sql);
    return send.call(statements, sql, type, replacements, options);
  };
  return strays;
}
