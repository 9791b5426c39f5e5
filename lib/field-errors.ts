import type { z } from 'zod';
import type { FieldError } from './errors.js';

/**
 * The errors of an input that does not match its schema, one for each field: a value of the wrong type can also have the
 * wrong length, such as an empty list.
 */
export function fieldErrors(error: z.ZodError): FieldError[] {
  const byField = new Map<string, FieldError>();
  for (const fault of error.issues.flatMap(toFieldErrors)) {
    if (!byField.has(fault.pointer)) byField.set(fault.pointer, fault);
  }
  return [...byField.values()];
}

function toFieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  const pointer = toPointer(issue.path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        pointer: toPointer([...issue.path, key]),
        code: 'unknown_key',
        detail: 'is not a field of this request',
      }));
    case 'invalid_type':
      return issue.input === undefined && issue.path.length > 0
        ? [{ pointer, code: 'required', detail: 'is missing' }]
        : [{ pointer, code: 'wrong_type', detail: `must be of type ${issue.expected}` }];
    case 'too_big':
      return [
        isAmount(issue)
          ? { pointer, code: 'too_large', detail: `must be at most ${issue.maximum}` }
          : { pointer, code: 'too_long', detail: `must have at most ${issue.maximum} ${unitOf(issue)}` },
      ];
    case 'too_small':
      return [
        isAmount(issue)
          ? { pointer, code: 'too_small', detail: `must be at least ${issue.minimum}` }
          : { pointer, code: 'too_short', detail: `must have at least ${issue.minimum} ${unitOf(issue)}` },
      ];
    default:
      return [{ pointer, code: 'invalid', detail: issue.message }];
  }
}

function isAmount({ origin }: { readonly origin: string }): boolean {
  return origin === 'number' || origin === 'int';
}

function unitOf({ origin }: { readonly origin: string }): string {
  return origin === 'array' ? 'items' : 'characters';
}

function toPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
