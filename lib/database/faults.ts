import { AuthError, type AuthErrorCode, UndeclaredError } from '../errors.js';
import { say } from '../phrases.js';

interface DatabaseFault extends Error {
  sql?: string;
  parent?: { code?: string; errno?: number; message?: string; syscall?: string };
}

const RETRYABLE = new Set([
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CHECKREAD', // MariaDB: "record has changed since last read", its form of a serialization failure
  '40001', // PostgreSQL: serialization_failure
  '40P01', // PostgreSQL: deadlock_detected
  '55P03', // PostgreSQL: lock_not_available
]);

// A table or column is missing, has the wrong type, or requires a value that this version does not know.
const WRONG_SCHEMA = new Set([
  ...[
    'ER_NO_SUCH_TABLE',
    'ER_BAD_FIELD_ERROR',
    'ER_TRUNCATED_WRONG_VALUE',
    'ER_TRUNCATED_WRONG_VALUE_FOR_FIELD',
  ],
  ...['ER_NO_DEFAULT_FOR_FIELD', 'ER_BAD_NULL_ERROR', 'ER_WARN_DATA_OUT_OF_RANGE'],
  ...['42P01', '42703', '42804', '42883', '22P02', '23502'],
]);
const WRONG_SQLITE_SCHEMA =
  /no such (table|column)|has no column named|NOT NULL constraint failed|datatype mismatch/;

const CANCELED = new Set([
  'ER_QUERY_INTERRUPTED',
  'ER_QUERY_TIMEOUT',
  1969, // MariaDB: the statement took too long. mysql2 has no name for it.
  '57014', // PostgreSQL: query_canceled
]);

/** Whether the database rejected a statement with an error that does not depend on its load. */
export function isRefused(error: unknown): boolean {
  const { name, parent } = (error ?? {}) as DatabaseFault;
  const isCanceled = CANCELED.has(parent?.code ?? parent?.errno ?? '');
  return name === 'SequelizeDatabaseError' && !isRetryable(error) && !isCanceled;
}

/** Whether an error of MySQL's driver means that the database has rolled back the whole transaction. */
export function isRolledBack(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as { code?: string };
  return code === 'ER_LOCK_DEADLOCK' || code === 'ER_CHECKREAD';
}

/** Whether the database rejected or aborted a statement or transaction that can be retried. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has((error as DatabaseFault)?.parent?.code ?? '') || isReadOnly(error);
}

const READ_ONLY = new Set([
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', // MySQL's 1792
  'ER_READ_ONLY_MODE', // MySQL's 1836
  '25006', // PostgreSQL: read_only_sql_transaction
]);

/** Whether a write was rejected because the server is read-only, like an old primary after a failover. */
export function isReadOnly(error: unknown): boolean {
  const { code = '', message = '' } = (error as DatabaseFault)?.parent ?? {};
  // MySQL's 1290 is also used for options that have nothing to do with it.
  return READ_ONLY.has(code) || (code === 'ER_OPTION_PREVENTS_STATEMENT' && /read[-_]only/.test(message));
}

/** Thrown if the server of a connection is not the primary. No statement was sent to it. */
export class NotPrimary extends Error {
  readonly parent = { code: '25006', message: 'the server is read-only, so it might be a former primary' };

  /** @param isNew whether the connection is new. In that case, another connection might lead to the same server */
  constructor(readonly isNew: boolean) {
    super('the server is read-only');
  }
}

const AT_LIMIT = new Set([
  'ER_CON_COUNT_ERROR',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_USER_LIMIT_REACHED',
  '53300', // PostgreSQL: too_many_connections
]);

/** Whether the server rejected a connection because it has reached its limit of connections. */
export function isAtLimit(error: unknown): boolean {
  // The app's own code might have used another server.
  return !(error instanceof AppError) && AT_LIMIT.has((error as DatabaseFault)?.parent?.code ?? '');
}

/** Whether a statement was not sent because no connection of the pool became free in time. */
export function isNoConnection(error: unknown): boolean {
  return (error as DatabaseFault)?.name === 'SequelizeConnectionAcquireTimeoutError';
}

/** Whether a statement has waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return ['ER_LOCK_WAIT_TIMEOUT', '55P03', 'SQLITE_BUSY'].includes(
    (error as DatabaseFault)?.parent?.code ?? '',
  );
}

/** Whether another connection holds SQLite's lock. */
export function isBusy(error: unknown): boolean {
  return (error as DatabaseFault)?.parent?.code === 'SQLITE_BUSY';
}

/**
 * Whether the statement was not sent because its connection had died while idle, or led to a former primary, so that
 * it is safe to retry. If the connection is lost later, the statement might have been executed.
 */
export function wasNotSent(error: unknown): boolean {
  if (error instanceof NotPrimary) return !error.isNew;
  const { parent } = (error as DatabaseFault) ?? {};
  return (
    parent?.syscall === 'write' || parent?.code === 'EPIPE' || /not queryable/.test(parent?.message ?? '')
  );
}

/**
 * Wraps an error that the app's own code threw within a transaction. It must not be mistaken for an error of latchkey's
 * statements: a unique constraint of the app's table says nothing about emails. `parent` still shows whether the
 * database has aborted the transaction, so that it can be retried.
 */
export class AppError extends Error {
  constructor(override readonly cause: unknown) {
    super("the app's code threw an error");
  }

  get parent(): unknown {
    const { cause } = this as { cause: (DatabaseFault & { code?: string }) | undefined };
    if (cause?.parent) return cause.parent;
    // The errors of drivers, which hooks can use too, have no parent. Other libraries wrap them.
    const inner = cause?.cause as { code?: string } | undefined;
    return [cause, inner].find((one) => RETRYABLE.has(one?.code ?? ''));
  }
}

/** Returns the columns or the index of a violated unique constraint. Null if the error is a different one. */
export function violatedUnique(error: unknown): string | null {
  // The app's code can throw anything.
  const { name, fields, parent } = (error ?? {}) as DatabaseFault & { fields?: object };
  if (name !== 'SequelizeUniqueConstraintError') return null;
  return `${Object.keys(fields ?? {}).join(' ')} ${parent?.message ?? ''}`;
}

// PostgreSQL 18 and later use this code for ON DELETE RESTRICT. Sequelize does not know it.
const RESTRICT_VIOLATION = '23001';

/** Whether a referenced row does not exist, or a row cannot be deleted because another row refers to it. */
export function isForeignKeyViolation(error: unknown): boolean {
  const { name, parent } = (error as DatabaseFault | undefined) ?? {};
  return name === 'SequelizeForeignKeyConstraintError' || parent?.code === RESTRICT_VIOLATION;
}

/**
 * Returns the error that callers get. Constraint violations, errors of the app and undeclared names stay as they are;
 * other errors become `unavailable`.
 */
export function asFailure(error: unknown): unknown {
  if (error instanceof AppError && !isRetryable(error)) return error.cause;
  if (error instanceof UndeclaredError) return error;
  const isOfConstraint = isForeignKeyViolation(error) || violatedUnique(error) !== null;
  return isOfConstraint ? error : asUnavailable(error);
}

/**
 * Runs a statement of a transaction. If the transaction can be retried after an error, the error is thrown as it is.
 * The statement has no deadline of its own: latchkey's transactions have one, and in the app's transaction, a statement
 * that latchkey gave up on would still take effect with the app's commit.
 */
export async function asStatementOf<T>(statement: () => Promise<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    throw isRetryable(error) ? error : asFailure(error);
  }
}

/**
 * Converts a database error to `unavailable` (503). Its SQL and parameters are dropped; its code and message are kept
 * as the cause, for the log. A retry does not help if the schema does not match this version. The log then names the
 * tables of the statement in addition to the database's message, which names the column.
 */
function asUnavailable(error: unknown): AuthError {
  if (error instanceof AuthError) return error;
  const { parent, name, message, sql = '' } = error as DatabaseFault;
  const code = parent?.code ?? name;
  const what = `database: ${String(code)}: ${parent?.message || message}.`;
  const isSchema = WRONG_SCHEMA.has(String(code)) || WRONG_SQLITE_SCHEMA.test(parent?.message ?? '');
  if (!isSchema) return new AuthError('unavailable', { cause: new Error(what) });
  const remedy = `The schema does not match this version (${tablesOf(sql)}): run auth.migrate()`;
  return new AuthError('unavailable', {
    detail: say('schema-outdated'),
    cause: new Error(`${what} ${remedy}`),
  });
}

/** Returns the tables in a statement with their aliases, because the database's message might use the aliases. */
function tablesOf(sql: string): string {
  const named = [...sql.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE) +(\w+)(?: +([a-z])\b)?/g)];
  return named.map(([, table, alias]) => `table ${table}${alias ? ` as ${alias}` : ''}`).join(', ');
}

const MAX_ATTEMPTS = 3;

/**
 * Retries work that has lost a race: after its check, another transaction inserted the same value, or deleted a row
 * that the work refers to.
 *
 * @param codes the codes of AuthErrors that can also mean a lost race
 */
export async function retryAfterRace<T>(codes: readonly AuthErrorCode[], work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isTaken = error instanceof AuthError && codes.includes(error.code);
      const isLost = isTaken || violatedUnique(error) || isForeignKeyViolation(error);
      if (!isLost || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
