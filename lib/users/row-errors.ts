import { AppError } from '../database/faults.js';
import { AuthError, type FieldError } from '../errors.js';
import { snakeCase } from '../tables/column.js';
import { type AppModel, columnOf, quotedTable } from './app-model.js';
import type { RowTable } from './row-checks.js';

interface SequelizeFault extends Error {
  readonly parent?: { readonly code?: string; readonly sql?: string };
  readonly fields?: Readonly<Record<string, unknown>> | readonly string[];
  readonly errors?: readonly {
    readonly path: string | null;
    readonly message: string;
    readonly instance?: object | null;
  }[];
}

// PostgreSQL's class of errors 22, and MySQL's codes.
const BAD_VALUE =
  /^(22\w{3}|(ER_|WARN_)+(DATA_TOO_LONG|DATA_OUT_OF_RANGE|DATA_TRUNCATED|TRUNCATED_WRONG_VALUE(_FOR_FIELD)?))$/;

/**
 * What latchkey answers to an error of the app's model. A value of a field that is taken, or that the model's own rules
 * or the table refuse, is the client's mistake. A lost connection is an outage. Anything else is the app's to handle.
 */
export function rowError(
  error: unknown,
  { model, fields, table }: { model: AppModel; fields: readonly string[]; table: RowTable },
): unknown {
  const { name = '', parent, message, errors: items = [] } = (error ?? {}) as SequelizeFault;
  if (/^Sequelize(Connection|Host|Access|InvalidConnection|Timeout)/.test(name)) return error;
  if (error instanceof AuthError) return error;
  const errors = isOfModel() ? mistakes() : [];
  return errors.length > 0 ? new AuthError('validation_failed', { errors }) : new AppError(error);

  /** The app's code may have written to other tables too. */
  function isOfModel(): boolean {
    const instances = items.map(({ instance }) => instance ?? null);
    const table = quotedTable(model);
    const isOther = (it: object | null) => it !== null && quotedTable(it.constructor as AppModel) !== table;
    return !instances.some(isOther) && (parent?.sql === undefined || parent.sql.includes(table));
  }

  function mistakes(): FieldError[] {
    if (name === 'SequelizeUniqueConstraintError') return taken(error as SequelizeFault);
    if (name === 'SequelizeValidationError') return invalid();
    return BAD_VALUE.test(parent?.code ?? '') ? unfit() : [];
  }

  function taken({ fields: violated = {} }: SequelizeFault): FieldError[] {
    // Databases name the columns, or MySQL the index.
    const names = Array.isArray(violated) ? violated : Object.keys(violated);
    const columns = names.flatMap((one: string) => table.uniques.get(one) ?? [one]);
    return fields
      .filter((field) => columns.includes(columnOf(model, field)) || columns.includes(field))
      .map((field) => ({ pointer: pointerTo(field), code: 'taken', detail: 'is taken: choose another' }));
  }

  function invalid(): FieldError[] {
    if (!items.every(({ path }) => path !== null && fields.includes(path))) return [];
    return items.map(({ path, message }) => ({
      pointer: pointerTo(path ?? ''),
      code: 'invalid',
      detail: message,
    }));
  }

  /** Values that the columns cannot hold. MySQL names the column, PostgreSQL only its type, without or with its length. */
  function unfit(): FieldError[] {
    const typeOf = (field: string) => table.types.get(columnOf(model, field)) ?? '';
    const ways: ((field: string) => string[])[] = [
      (field) => [`'${columnOf(model, field)}'`, `\`${columnOf(model, field)}\``, typeOf(field)],
      (field) => [typeOf(field).replace(/\W*\(.*/, '')],
    ];
    const [named = []] = ways
      .map((way) => fields.filter((field) => way(field).some((it) => it !== '' && message.includes(it))))
      .filter((found) => found.length > 0);
    const detail = 'is a value that cannot be stored';
    return named.map((field) => ({ pointer: pointerTo(field), code: 'invalid', detail }));
  }
}

function pointerTo(field: string): string {
  return `/${snakeCase(field)}`;
}
