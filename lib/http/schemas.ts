import { z } from 'zod';

/** A string in a request: well-formed Unicode, no NUL, and no longer than any real value. */
export function text(maxLength: number) {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), {
      error: 'must be well-formed Unicode without a NUL character',
      abort: true,
    });
}

/** An id on the wire. Any id of the tables is valid, not only UUIDs of a version that zod knows. */
export const id = z.string().meta({ format: 'uuid' });

/** A time on the wire: ISO 8601 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 });
