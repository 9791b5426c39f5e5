import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transaction } from 'sequelize';
import { type AnyAuth, internalsOf } from '../../lib/auth.js';

const around = new AsyncLocalStorage<Transaction>();

/**
 * Returns a list that fills with the statements that are sent while one of the Auth's own transactions is open around
 * them, but not within it: forgetting to pass a transaction leaves no other trace until a lock is waited for.
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
