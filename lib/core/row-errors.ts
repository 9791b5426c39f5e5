import { AppError } from '../database/faults.js';
import { AuthError, type FieldError } from '../errors.js';
import { snakeCase } from '../models/column.js';
import { type AppModel, columnOf } from './app-model.js';
import type { RowTable } from './row-checks.js';

interface SequelizeFault extends Error {
  readonly fields?: Readonly<Record<string, unknown>> | readonly string[];
  readonly errors?: readonly { readonly path: string | null; readonly message: string }[];
}

/**
 * What latchkey answers to an error of the app's model. A value of a field that is taken, or that the model's own rules
 * refuse, is the client's mistake. A lost connection is an outage. Anything else is the app's to handle.
 */
export function rowError(
  error: unknown,
  { model, fields, table }: { model: AppModel; fields: readonly string[]; table: RowTable },
): unknown {
  const { name = '' } = error as SequelizeFault;
  if (/^Sequelize(Connection|Host|Access|InvalidConnection|Timeout)/.test(name)) return error;
  if (error instanceof AuthError) return error;
  const errors =
    name === 'SequelizeUniqueConstraintError' ? taken(error as SequelizeFault) : invalid(error as never);
  return errors.length > 0 ? new AuthError('validation_failed', { errors }) : new AppError(error);

  function taken({ fields: violated = {} }: SequelizeFault): FieldError[] {
    // Databases name the columns, or MySQL the index.
    const names = Array.isArray(violated) ? violated : Object.keys(violated);
    const columns = names.flatMap((one: string) => table.uniques.get(one) ?? [one]);
    return fields
      .filter((field) => columns.includes(columnOf(model, field)) || columns.includes(field))
      .map((field) => ({ pointer: pointerTo(field), code: 'taken', detail: 'is taken: choose another' }));
  }

  function invalid({ errors: items = [] }: SequelizeFault): FieldError[] {
    if (name !== 'SequelizeValidationError') return [];
    if (!items.every(({ path }) => path !== null && fields.includes(path))) return [];
    return items.map(({ path, message }) => ({
      pointer: pointerTo(path ?? ''),
      code: 'invalid',
      detail: message,
    }));
  }
}

function pointerTo(field: string): string {
  return `/${snakeCase(field)}`;
}
