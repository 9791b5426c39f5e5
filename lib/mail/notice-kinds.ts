import { Declarations, type Owner } from '../owners.js';
import type { Advice } from './layout.js';

/** Every kind of notice. The owner of a kind adds it here, from the result of {@link declareNotices}. */
// biome-ignore lint/suspicious/noEmptyInterface: modules that send notices extend it
export interface NoticeKinds {}

/** The kind of a notice: an email to a user about a change in their account. */
export type NoticeKind = keyof NoticeKinds;

/** The texts of a notice. */
export interface NoticeTexts {
  /** The subject line. It must not contain text that a user wrote. */
  readonly subject: string;
  readonly lines: readonly string[];
  /** The label of the `subject` in its details, such as `Passkey`. @default `What` */
  readonly about?: string;
  /** What users can do in addition to the undo link. @default nothing */
  readonly advice?: Advice;
  /** The text before the undo link, with `{within}` for the time. @default "If it was not you, undo it here within {within}:" */
  readonly undo?: string;
  /** The text of the undo link. @default "This was not me" */
  readonly action?: string;
  /** Whether the account no longer has this address, or is closed, so that a new password cannot help. @default false */
  readonly losesAddress?: boolean;
  /** The advice if there is no undo link. @default nothing */
  readonly help?: string;
}

/** A notice. Users get it unless the config excludes its kind. */
export interface NoticeTemplate extends NoticeTexts {
  readonly kind: NoticeKind;
}

/** Every kind of notice that has been declared, including kinds of plugins that are not in the config. */
export const declaredNotices = new Declarations('notice');

/**
 * Declares notices, by their kinds. Their owner calls this when its module is loaded, and adds the kinds to
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
