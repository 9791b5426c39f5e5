import { type Html, type HtmlValue, html } from '../../../html.js';
import type { PageForm, Visit } from '../../page.js';
import type { CommonValues, MethodValues } from '../../values.js';
import type { Words } from '../../words.js';

/** A request for the page, with the user's sign-in methods. */
export interface CardVisit extends Visit {
  readonly methods: MethodValues;
}

/** A part of the page of the account's security. */
export interface Card<V extends object = object> {
  readonly name: string;
  readonly forms: readonly PageForm[];
  /** The tasks that can be done with it. Only these cards are shown while a task is open. @default none */
  readonly does?: readonly string[];
  values(visit: CardVisit): V | Promise<V>;
  view(values: V, page: CommonValues, words: Words): { readonly title: string; readonly content: HtmlValue };
}

/** Declares a card. */
export function card<V extends object>(declaration: Card<V>): Card {
  // Only the declaration itself needs the type of its values.
  return declaration as unknown as Card;
}

/** The path of the page that has the cards. */
export const SECURITY = { path: '/account/security' };

/** Puts a card's content into its frame. */
export function frameOf(name: string, title: string, content: HtmlValue): Html {
  return html`<section data-part="card" id="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title">${title}</h2>
${content}
</section>`;
}
