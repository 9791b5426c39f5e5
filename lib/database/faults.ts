import { AuthError } from '../errors.js';

interface DatabaseFault extends Error {
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

const NO_SUCH_TABLE = new Set(['ER_NO_SUCH_TABLE', '42P01', 'ER_BAD_FIELD_ERROR', '42703']);

/** Whether the database aborted a statement or transaction in favor of another, so that it can be retried. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has((error as DatabaseFault)?.parent?.code ?? '');
}

/**
 * Whether the statement was not sent, because its connection had died while idle, so that it is safe to retry. If a
 * connection is lost later, the statement may have been executed.
 */
export function wasNotSent(error: unknown): boolean {
  const { parent } = (error as DatabaseFault) ?? {};
  return (
    parent?.syscall === 'write' || parent?.code === 'EPIPE' || /not queryable/.test(parent?.message ?? '')
  );
}

/** The columns or the index of a violated unique constraint. Null if the error is a different one. */
export function violatedUnique(error: unknown): string | null {
  const { name, fields, parent } = error as DatabaseFault & { fields?: object };
  if (name !== 'SequelizeUniqueConstraintError') return null;
  return `${Object.keys(fields ?? {}).join(' ')} ${parent?.message ?? ''}`;
}

/** Whether a referenced row does not exist. */
export function isForeignKeyViolation(error: unknown): boolean {
  return (error as Error)?.name === 'SequelizeForeignKeyConstraintError';
}

/**
 * Converts a database error to `unavailable` (503). Its SQL and parameters are dropped; its code and message are kept
 * as the cause, for the log.
 */
export function asUnavailable(error: unknown): AuthError {
  if (error instanceof AuthError) return error;
  const { parent, name, message } = error as DatabaseFault;
  const code = parent?.code ?? name;
  const missing = NO_SUCH_TABLE.has(String(code)) || /no such (table|column)/.test(parent?.message ?? '');
  const hint = missing ? ' The schema is out of date: run auth.migrate().' : '';
  return new AuthError('unavailable', {
    cause: new Error(`database: ${String(code)}: ${parent?.message ?? message}.${hint}`),
  });
}
