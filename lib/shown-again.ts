import * as z from 'zod';
import { processWide } from './process-wide.js';

/** The schemas of fields that are not secret. Two copies of this package can be loaded in one app, and both use it. */
const shown = processWide('shown-again/1', () => new WeakSet<z.ZodType>());

/**
 * Marks a field of a request as not secret: after an error, the page of the form gets back the value that the user
 * typed. A field without the mark is never kept. Call it last, because `describe()`, `optional()` and other methods
 * return a new schema.
 */
export function shownAgain<S extends z.ZodType>(field: S): S {
  shown.add(field);
  return field;
}

/** Whether a field has the mark of {@link shownAgain}. */
export function isShownAgain(field: unknown): boolean {
  return field instanceof z.ZodType && shown.has(field);
}

/**
 * Returns the names of the fields of a body that have the mark. A field of several variants must have it in all of
 * them.
 */
export function fieldsShownAgain(body: z.ZodType): ReadonlySet<string> {
  const fields = [...shapesOf(body)].flatMap((shape) => Object.entries(shape));
  const secret = new Set(fields.filter(([, field]) => !isShownAgain(field)).map(([name]) => name));
  return new Set(fields.map(([name]) => name).filter((name) => !secret.has(name)));
}

/** Makes fields optional, and keeps their marks. */
export function optionalFields(fields: z.ZodRawShape): z.ZodRawShape {
  const entries = Object.entries(z.object(fields).partial().shape);
  return Object.fromEntries(
    entries.map(([name, field]) => [
      name,
      isShownAgain(fields[name]) ? shownAgain(field as z.ZodType) : field,
    ]),
  );
}

function* shapesOf(body: z.ZodType): Generator<z.ZodRawShape> {
  if (body instanceof z.ZodObject) yield body.shape;
  if (body instanceof z.ZodUnion) for (const variant of body.options) yield* shapesOf(variant as z.ZodType);
}
