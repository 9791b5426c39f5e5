import type { Core } from '../../core/core.js';
import { type Finding, ok, problem, warning } from './finding.js';

/** The maximum number of keys that a finding names. */
const MAX_KEYS = 10;

/** Checks whether the app's own languages have all texts, and no others. Nothing is found if there are no such languages. */
export async function* checkLanguages({ languages }: Pick<Core, 'languages'>): AsyncGenerator<Finding> {
  const check = 'languages';
  for (const [tag, { missing, mistyped, unknown }] of await languages.differences()) {
    if (missing.length > 0)
      yield problem(
        check,
        `${tag} lacks the texts ${named(missing)}`,
        'add them: docs/languages.md says where the English ones are',
      );
    if (mistyped.length > 0)
      yield problem(
        check,
        `${tag} has texts of another type than English: ${named(mistyped)}`,
        'use a string, a list or a function, as in English',
      );
    if (unknown.length > 0)
      yield warning(
        check,
        `${tag} has texts that latchkey does not know: ${named(unknown)}`,
        'check the spelling of their keys, or remove them',
      );
    if (missing.length + mistyped.length + unknown.length === 0) yield ok(check, `${tag} has all texts`);
  }
}

function named(keys: readonly string[]): string {
  const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : '';
  return `${keys.slice(0, MAX_KEYS).join(', ')}${more}`;
}
