import { html } from '../../../html.js';
import { providerName } from '../../providers.js';
import type { CommonValues } from '../../values.js';
import type { Words } from '../../words/index.js';
import { type CardView, card } from './card.js';

/** The values of the card `sign-in-methods`. */
export interface SignInMethodsValues {
  /** Whether the account has a password. */
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
    const { password, passkeys, providers, email } = await methods;
    return { password, passkeys, email, providers: providers.map((id) => providerName(site, id)) };
  },
});

/** @internal */
export function methodsView(
  { password, passkeys, providers, email }: SignInMethodsValues,
  _page: CommonValues,
  words: Words,
): CardView {
  const t = words.security.methods;
  const names = [
    ...(password ? [words.fields.password] : []),
    ...(passkeys > 0 ? [t.passkeys(passkeys)] : []),
    ...providers,
    ...(email ? [t.email] : []),
  ];
  return {
    title: t.title,
    content:
      names.length === 0
        ? html`<p>${t.none}</p>`
        : html`<ul>${names.map((name) => html`<li>${name}</li>`)}</ul>`,
  };
}

declare module '../../values.js' {
  interface CardValues {
    'sign-in-methods': SignInMethodsValues;
  }
}
