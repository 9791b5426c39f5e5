import { type Html, type HtmlValue, html } from '../../../html.js';
import type { Words } from '../../../words/pages/index.js';
import { closed, disclosure, formsIn } from '../../controls.js';
import type { PageForm, Visit } from '../../page.js';
import type { CardValues, MethodValues } from '../../values.js';

/**
 * A request for the page, with data that several cards need. It is read at the same time as the values of the cards.
 */
export interface CardVisit extends Visit {
  readonly methods: Promise<MethodValues>;
  /** Returns the page that makes the session fresh, and leads back to a card. Null if the session is fresh. */
  confirmFirst(card: keyof CardValues): string | null;
  /** Whether the account must first confirm its email, before it can have a second factor or a passkey. */
  readonly isUnconfirmed: boolean;
}

/** A part of the page of the account's security. */
export interface Card<Name extends keyof CardValues = keyof CardValues> {
  readonly name: Name;
  readonly forms: readonly PageForm[];
  /** The tasks that users can complete with the card. While a task is open, only such cards are shown. @default none */
  readonly does?: readonly string[];
  /** Returns null if there is nothing to show. */
  values(visit: CardVisit): CardValues[Name] | null | Promise<CardValues[Name] | null>;
}

/** The content of a card. */
export interface CardView {
  readonly title: string;
  /** The state in one line, which is shown while the card is closed. */
  readonly state: HtmlValue;
  /** What opens the card. Null if its content is so short that it is always shown. */
  readonly opens: string | null;
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

/**
 * Creates a card that shows its state in one line, and opens on demand or if one of its forms was rejected.
 *
 * @param values the values of the card, which contain its forms, and whether the whole card is shown, because a task
 * needs it
 * @internal
 */
export function closedCard(
  name: string,
  view: CardView,
  { values, isOpen }: { readonly values: object; readonly isOpen: boolean },
  words: Words,
): Html {
  const { title, state, opens, content } = view;
  const line = html`<p data-part="state">${state}</p>`;
  if (opens === null || isOpen) return frameOf(name, title, html`${line}${content}`);
  // Browsers open the parent of the element that an address names.
  return html`<section data-part="card" aria-labelledby="${name}-title">
${closed(
  html`<h2 id="${name}-title">${title}</h2>
${line}`,
  disclosure(
    { label: opens, about: title, forms: formsIn(values) },
    html`<div id="${name}">${content}</div>`,
    words,
  ),
)}
</section>`;
}
