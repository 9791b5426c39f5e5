import { isUuid } from '../crypto/uuid.js';
import type { AppModel } from './app-model.js';

/** The primary key of a row of the app. */
export type RowKey = string | number | bigint;

/** The attribute of a model's primary key. @throws TypeError if several attributes, or none, are the key */
export function keyOf(model: AppModel): string {
  const [key, ...others] = model.primaryKeyAttributes;
  if (key !== undefined && others.length === 0) return key;
  throw new TypeError(
    `latchkey: ref names rows of ${model.name} by their primary key, which must be one attribute: leave ref out`,
  );
}

/**
 * A key as text, in the form in which that of a row is read. Null if no row can have it: databases fail on keys of another
 * type, or take `'abc'` for 0.
 */
export function normalKey(model: AppModel, key: unknown): string | null {
  const text = String(key).trim();
  const type = String((model.getAttributes()[keyOf(model)]?.type as { key?: unknown } | undefined)?.key);
  if (/INT/.test(type)) return /^-?(0|[1-9]\d{0,17})$/.test(text) ? text : null;
  if (type !== 'UUID') return String(key);
  return isUuid(text.toLowerCase()) ? text.toLowerCase() : null;
}
