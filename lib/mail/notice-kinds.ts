import { Declarations, type Owner } from '../owners.js';

/** Every kind of notice. Its owner adds it, with what {@link declareNotices} returns. */
// biome-ignore lint/suspicious/noEmptyInterface: it is extended by those that send notices
export interface NoticeKinds {}

/** The kind of an email that tells a user what happened to their account. */
export type NoticeKind = keyof NoticeKinds;

/** The texts of a notice, which has no link but perhaps one that undoes what it is about. */
export interface NoticeTexts {
  /** The subject line. Nothing that a user has written belongs into it. */
  readonly subject: string;
  readonly lines: readonly string[];
  /** What the `subject` of its details is, such as `Passkey`. @default `What` */
  readonly about?: string;
  /** The text before the link that undoes it. @default "If it was not you, undo it here within 7 days:" */
  readonly undo?: string;
  /** What to do instead if there is no such link. @default nothing */
  readonly help?: string;
}

/** A notice, which users get unless the config leaves its kind out. */
export interface NoticeTemplate extends NoticeTexts {
  readonly kind: NoticeKind;
}

/** Every kind of notice that has been declared, including those of plugins that are not in the config. */
export const declaredNotices = new Declarations('notice');

/**
 * Declares notices, by their kinds. Their owner calls it when its module is loaded, and adds the kinds to
 * {@link NoticeKinds}.
 *
 * @returns the templates, by kind
 */
export function declareNotices<const N extends Readonly<Record<string, NoticeTexts>>>(
  owner: Owner | null,
  notices: N,
): { readonly [Kind in keyof N]: NoticeTemplate } {
  const templates = Object.entries(notices).map(([kind, texts]) => {
    declaredNotices.add(owner, kind, null);
    return [kind, { kind, ...texts }];
  });
  return Object.fromEntries(templates);
}

/**
 * The kinds that are sent.
 *
 * @param notices what the config says
 * @param plugins the names of the plugins in the config
 */
export function chosenNotices(
  notices: boolean | readonly NoticeKind[],
  plugins: ReadonlySet<string>,
): readonly NoticeKind[] {
  if (typeof notices !== 'boolean') return notices;
  return notices ? (declaredNotices.namesOf(plugins) as NoticeKind[]) : [];
}
