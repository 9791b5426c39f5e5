import { STATUS_CODES } from 'node:http';
import {
  type AuthError,
  type FieldError,
  hasDefaultDetail,
  type ProblemDetails,
  phraseOf,
} from '../errors.js';
import { saidIn } from '../phrases.js';
import type { ErrorWords } from '../words/catalogue.js';

/**
 * Returns the body of the response to an error. Only its details depend on the language. A detail from a hook of the app stays
 * as it is, and so does a detail that the language does not have.
 *
 * @param words the words of a language. English if they are omitted
 */
export function problemIn(error: AuthError, words?: ErrorWords | null): ProblemDetails {
  const { status, code, detail, errors, missing, task } = error;
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? '',
    status,
    code,
    detail: words ? detailIn(words, error) : detail,
    ...(errors && { errors: words ? errors.map((one) => fieldIn(words, one)) : errors }),
    ...(missing && { missing }),
    ...(task !== undefined && { task }),
  };
}

function detailIn({ problems, phrases }: ErrorWords, error: AuthError): string {
  const { code, detail } = error;
  const phrase = phraseOf(error);
  const said = phrase ? saidIn(phrases, phrase) : hasDefaultDetail(error) ? problems[code] : detail;
  return said ?? detail;
}

function fieldIn({ phrases }: ErrorWords, error: FieldError): FieldError {
  const phrase = phraseOf(error);
  const { pointer, code, detail } = error;
  return { pointer, code, detail: (phrase && saidIn(phrases, phrase)) ?? detail };
}
