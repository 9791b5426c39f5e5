import { html } from '../../../html.js';
import type { Words } from '../../../words/pages/index.js';
import { question } from '../../controls.js';
import { iconOf, type ProviderValues, providerName, providersOf } from '../../providers.js';
import { allOf, type Site } from '../../site.js';
import { timeOf } from '../../texts.js';
import type { CardValues, CommonValues, FormValues } from '../../values.js';
import { type Card, type CardView, card, SECURITY } from './card.js';

/** A linked account. */
export interface LinkedAccountValues {
  /** The id of the provider. */
  readonly provider: string;
  /** The name of the provider. */
  readonly name: string;
  /** When it was linked. ISO 8601. */
  readonly createdAt: string;
  /** The form that unlinks it. Null if it is the only sign-in method of the account. */
  readonly unlink: FormValues | null;
}

/** The values of the card `linked-accounts`. */
export interface LinkedAccountsValues {
  readonly accounts: readonly LinkedAccountValues[];
  /** The providers that are not linked yet. Without a recent sign-in, their links first lead to the page that confirms who the user is. */
  readonly providers: readonly ProviderValues[];
  /** What the user can add, so that the only account can be unlinked. Empty if each can be unlinked already. */
  readonly toAdd: readonly ('passkey' | 'password' | 'email' | 'username' | 'either' | 'account')[];
}

/** @internal */
export function linkedAccountsCard(site: Site): Card | null {
  const [list, unlink] = [site.route('get /oauth/accounts'), site.route('delete /oauth/:provider/unlink')];
  if (!list || !unlink) return null;
  return card<'linked-accounts'>({
    name: 'linked-accounts',
    forms: [
      {
        name: 'unlink/:provider',
        route: unlink,
        next: () => site.page('account/security', { done: 'unlinked' }),
      },
    ],
    async values(visit) {
      const [{ accounts }, methods] = await allOf([site.read(list, visit), visit.methods]);
      const linked = new Set(accounts.map(({ provider }) => provider));
      const confirm = visit.confirmFirst('linked-accounts');
      const callback = site.later('account/security', 'linked', visit.auth);
      const canUnlink = (provider: string) =>
        methods.count === null || methods.count > (methods.providers.includes(provider) ? 1 : 0);
      const providers = providersOf(site, 'link', () => callback)
        .filter(({ id }) => !linked.has(id))
        .map((one) => ({ ...one, href: confirm ?? one.href }));
      const identifiers = site.identifiersToAdd;
      const isNamed = visit.auth !== null && site.nameOf(visit.auth.user) !== null;
      const canHavePassword = site.route('put /passwords') && (isNamed || identifiers !== null);
      const ofPassword = canHavePassword ? ('password' as const) : null;
      const password = methods.password ? identifiers : ofPassword;
      return {
        accounts: accounts.map(({ provider, created_at }) => ({
          provider,
          name: providerName(site, provider),
          createdAt: created_at,
          unlink: canUnlink(provider) ? site.form(visit, SECURITY, 'unlink/:provider', { provider }) : null,
        })),
        providers,
        toAdd: accounts.every(({ provider }) => canUnlink(provider))
          ? []
          : [
              ...(site.route('post /passkeys') ? (['passkey'] as const) : []),
              ...(password !== null ? [password] : []),
              ...(providers.length > 0 ? (['account'] as const) : []),
            ],
      };
    },
  });
}

/** @internal */
export function linkedAccountsView(
  { accounts, providers, toAdd }: LinkedAccountsValues,
  _page: CommonValues,
  words: Words,
): CardView {
  const t = words.security.linked;
  const added = toAdd.map((what) =>
    CARD_OF[what] ? html`<a href="#${CARD_OF[what]}">${t.added[what]}</a>` : html`${t.added[what]}`,
  );
  return {
    title: t.title,
    state: accounts.length === 0 ? t.none : accounts.map(({ name }) => name).join(words.comma),
    opens: accounts.length === 0 ? null : words.security.manage,
    content: html`${
      accounts.length > 0 &&
      html`<ul data-part="list">${accounts.map(
        ({ name, createdAt, unlink }) =>
          html`<li data-part="item"><div><p><strong>${name}</strong></p><p data-part="quiet">${t.since(timeOf(createdAt, words))}</p>${
            unlink === null && html`<p>${t.only(name)} ${t.addFirst(added)}</p>`
          }</div>${
            unlink &&
            question(
              {
                label: t.unlink,
                about: name,
                text: t.unlinkText(name),
                submit: t.confirmUnlink,
                form: unlink,
              },
              words,
            )
          }</li>`,
      )}</ul>`
    }${
      providers.length > 0 &&
      html`<div data-part="stack">${providers.map(
        ({ name, icon, href }) =>
          html`<a href="${href}" data-part="button secondary">${iconOf(icon)}${t.link(name)}</a>`,
      )}</div>`
    }`,
  };
}

/** The cards with what a user can add. */
const CARD_OF: Readonly<Record<string, keyof CardValues>> = {
  passkey: 'passkeys',
  password: 'password',
  email: 'password',
  username: 'password',
  either: 'password',
};

declare module '../../values.js' {
  interface CardValues {
    'linked-accounts': LinkedAccountsValues;
  }
}
