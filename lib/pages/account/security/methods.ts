import { html } from '../../../html.js';
import { providerName } from '../../entrance/ways.js';
import { card } from './card.js';

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

export const methodsCard = card<SignInMethodsValues>({
  name: 'sign-in-methods',
  forms: [],
  values: ({ methods: { password, passkeys, providers, email } }) => ({
    ...{ password, passkeys, email },
    providers: providers.map(providerName),
  }),
  view({ password, passkeys, providers, email }, _page, words) {
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
  },
});
