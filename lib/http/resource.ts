import * as z from 'zod';
import { type Column, type Columns, snakeCase } from '../tables/column.js';
import { id, time } from './schemas.js';

/** The JSON representation of a table's rows. Everything that clients see of a row goes through here. */
export interface Resource<Row> {
  /** @internal */
  readonly schema: z.ZodObject;
  present(row: Row): Record<string, unknown>;
}

/**
 * Derives a resource from a table's columns: those that clients can see, under their own names, in declaration order.
 *
 * @param also additional attributes
 */
export function resourceOf<Row extends object>(
  columns: Columns,
  also: readonly PropertyKey[] = [],
): Resource<Row> {
  const shown = Object.entries(columns)
    .filter(([attribute, { visibility }]) => visibility === 'client' || also.includes(attribute))
    .map(([attribute, column]) => ({ attribute, column, key: snakeCase(attribute) }));
  let schema: z.ZodObject | undefined;
  const present = (row: Row) =>
    Object.fromEntries(
      shown.map(({ attribute, key, column }) => {
        const value = (row as Record<string, unknown>)[attribute];
        return [key, column.kind === 'document' ? value : wireValue(value)];
      }),
    );
  return {
    // Made for the routes that show it: no app has all of them.
    get schema() {
      schema ??= z.object(Object.fromEntries(shown.map(({ key, column }) => [key, schemaOf(column)])));
      return schema;
    },
    present,
  };
}

function schemaOf({ kind, isNullable, meta }: Column): z.ZodType {
  const schema = meta ? typeOf(kind).meta(meta) : typeOf(kind);
  return isNullable ? schema.nullable() : schema;
}

function typeOf(kind: Column['kind']): z.ZodType {
  switch (kind) {
    case 'uuid':
      return id;
    case 'time':
    case 'any-time':
      return time;
    case 'integer':
      return z.int();
    case 'number':
      return z.number();
    case 'boolean':
      return z.boolean();
    case 'words':
      return z.array(z.string());
    case 'json':
      return z.record(z.string(), z.unknown());
    case 'document':
      return z.unknown();
    default:
      return z.string();
  }
}

function wireValue(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeCase(key), inner]));
}
