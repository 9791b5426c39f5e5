import { type Html, type HtmlValue, html } from '../../../html.js';
import type { PageForm, Visit } from '../../page.js';
import type { CardValues, MethodValues } from '../../values.js';

/**
 * A request for the page, with the user's sign-in methods, which are read at the same time as the values of the cards.
 */
export interface CardVisit extends Visit {
  readonly methods: Promise<MethodValues>;
}

/** A part of the page of the account's security. */
export interface Card<Name extends keyof CardValues = keyof CardValues> {
  readonly name: Name;
  readonly forms: readonly PageForm[];
  /** The tasks that users can complete with the card. While a task is open, only such cards are shown. @default none */
  readonly does?: readonly string[];
  values(visit: CardVisit): CardValues[Name] | Promise<CardValues[Name]>;
}

/** The content of a card. */
export interface CardView {
  readonly title: string;
  readonly content: HtmlValue;
}

/**
 * Declares a card.
 *
 * @internal
 */
export function card<Name extends keyof CardValues>(declaration: Card<Name>): Card {
  // Only the declaration itself needs the type of its values.
  return declaration as unknown as Card;
}

/**
 * The path of the page that has the cards.
 *
 * @internal
 */
export const SECURITY = { path: '/account/security' };

/**
 * Puts a card's content into its frame.
 *
 * @internal
 */
export function frameOf(name: string, title: string, content: HtmlValue): Html {
  return html`<section data-part="card" id="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title">${title}</h2>
${content}
</section>`;
}
