import * as z from 'zod';

/** A non-empty string in a request: well-formed Unicode without NUL, of limited length. */
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

/** An id in JSON. Not z.uuid(), which accepts only certain versions. */
export const id = z.string().meta({ format: 'uuid' });

/** A time in JSON: ISO 8601 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 });
