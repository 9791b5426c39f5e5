import { type HtmlValue, html } from '../../../html.js';
import type { Words } from '../../../words/pages/index.js';
import { providerName } from '../../providers.js';
import type { CardValues } from '../../values.js';
import { card } from './card.js';

/** The values of the card `sign-in-methods`. */
export interface SignInMethodsValues {
  /** Whether the account has a password, and an email or username to sign in with it. */
  readonly password: boolean;
  readonly passkeys: number;
  /** The names of the linked providers. */
  readonly providers: readonly string[];
  /** Whether a code can be emailed. */
  readonly email: boolean;
}

/** @internal */
export const methodsCard = card<'sign-in-methods'>({
  name: 'sign-in-methods',
  forms: [],
  async values({ site, methods }) {
    const { signsInByPassword, passkeys, providers, email } = await methods;
    return {
      password: signsInByPassword,
      passkeys,
      email,
      providers: providers.map((id) => providerName(site, id)),
    };
  },
});

/**
 * Creates the line that sums up how the user signs in, with links to the cards.
 *
 * @param cards the cards that are shown
 * @internal
 */
export function methodsLine(
  { password, passkeys, providers, email }: SignInMethodsValues,
  cards: Readonly<Partial<CardValues>>,
  words: Words,
): HtmlValue {
  const t = words.security.methods;
  const linked = (card: keyof CardValues, text: string) =>
    cards[card] === undefined ? text : html`<a href="#${card}">${text}</a>`;
  const names = [
    ...(password ? [linked('password', words.fields.password)] : []),
    ...(passkeys > 0 ? [linked('passkeys', t.passkeys(passkeys))] : []),
    ...providers.map((name) => linked('linked-accounts', name)),
    ...(email ? [t.email] : []),
  ];
  if (names.length === 0) return html`<p>${t.none}</p>`;
  return html`<p>${words.labeled(t.title, html`${names.map((name, index) => html`${index > 0 && words.comma}${name}`)}`)}</p>`;
}

declare module '../../values.js' {
  interface CardValues {
    'sign-in-methods': SignInMethodsValues;
  }
}
