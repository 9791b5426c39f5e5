import { Declarations, type Owner } from '../owners.js';
import type { FactsOf, Naming, PlainFacts, PlainTemplate, TextWith } from './templates.js';

/** Every kind of notice. The owner of a kind adds it here, from the result of {@link declareNotices}. */
// biome-ignore lint/suspicious/noEmptyInterface: modules that send notices extend it
export interface NoticeKinds {}

/** The kind of a notice: an email to a user about a change in their account. */
export type NoticeKind = keyof NoticeKinds;

/** A notice, which names its text. Users get it unless the config excludes its kind. */
export type NoticeTemplate = Extract<PlainTemplate, { readonly kind: NoticeKind }>;

/** Every kind of notice that has been declared, including kinds of plugins that are not in the config. */
export const declaredNotices = new Declarations('notice');

/**
 * Declares notices, by their kinds, with the facts that do not depend on the language. Their texts are in `words/notices.ts`. The
 * owner calls this when its module is loaded, and adds the kinds to {@link NoticeKinds}.
 *
 * @returns the templates, by kind
 */
export function declareNotices<const Kind extends Exclude<TextWith<'lines'>, `${string}/${string}`>>(
  owner: Owner | null,
  notices: { readonly [K in Kind]: FactsOf<K> },
): { readonly [K in Kind]: Naming<K> & PlainFacts } {
  const templates = Object.entries<object>(notices).map(([kind, facts]) => {
    declaredNotices.add(owner, kind, null);
    return [kind, { kind, text: kind, ...facts }];
  });
  return Object.fromEntries(templates);
}

/**
 * Returns the kinds that are sent.
 *
 * @param notices the option in the config
 * @param plugins the names of the plugins in the config
 */
export function chosenNotices(
  notices: boolean | readonly NoticeKind[],
  plugins: ReadonlySet<string>,
): readonly NoticeKind[] {
  if (typeof notices !== 'boolean') return notices;
  return notices ? (declaredNotices.namesOf(plugins) as NoticeKind[]) : [];
}
