import { type HtmlValue, html } from '../../../html.js';
import type { Words } from '../../../words/pages/index.js';
import { type FormContent, field, formOf, question, usernameOf } from '../../controls.js';
import type { Visit } from '../../page.js';
import type { Site } from '../../site.js';
import type { CommonValues, FormValues } from '../../values.js';
import { confirmLink } from '../proof.js';
import { type Card, type CardView, card, SECURITY } from './card.js';

/** The values of the card `password`. */
export interface PasswordValues {
  /** The form that changes the password. Null if the account has none. */
  readonly change: FormValues | null;
  /** The form that sets a first password. Null if the account has one, or has neither an email nor a username. */
  readonly set: FormValues | null;
  /** The form that removes the password. Null if the account has none, or fewer than two other sign-in methods. */
  readonly remove: FormValues | null;
  /** What the user signs in with, in addition to the password. Null if the account has neither an email nor a username. */
  readonly identifier: 'email' | 'username' | 'either' | null;
  /** What an account without an identifier can get on the page `account`. Null if nothing is missing, or if there is no such form. */
  readonly missing: { readonly identifier: 'email' | 'username' | 'either'; readonly page: string } | null;
  /** Whether the account must have another password before it can be used. */
  readonly isDemanded: boolean;
  readonly minLength: number;
  /**
   * The page where users confirm who they are before they type a password, which cannot be kept meanwhile. Null if the
   * current password is enough, or if they signed in recently.
   */
  readonly reauthenticate: string | null;
}

/** @internal */
export function passwordCard(site: Site): Card | null {
  const change = site.route('post /passwords/change');
  const [set, remove] = [site.route('put /passwords'), site.route('delete /passwords')];
  if (!change || !set || !remove) return null;
  const back = (done: string) => () => site.page('account/security', { done });
  return card<'password'>({
    name: 'password',
    does: ['choose_password'],
    forms: [
      {
        name: 'change-password',
        route: change,
        errors: { invalid_credentials: 'current_password' },
        next: ({ returnTo }) => returnTo ?? back('password-changed')(),
      },
      { name: 'set-password', route: set, next: back('password-set') },
      {
        name: 'remove-password',
        route: remove,
        errors: { invalid_credentials: 'password' },
        next: back('password-removed'),
      },
    ],
    async values(visit) {
      const { password, others } = await visit.methods;
      const form = (name: string) => site.form(visit, SECURITY, name);
      const identifier = identifierOf(visit);
      const toAdd = identifier === null ? site.identifiersToAdd : null;
      const hasFactor = visit.auth !== null && site.core.secondFactors.isOn(visit.auth.user);
      const isDemanded = visit.auth?.session.tasks?.includes('choose_password') ?? false;
      return {
        change: password ? form('change-password') : null,
        set: password || identifier === null ? null : form('set-password'),
        remove: password && others > 1 && !isDemanded ? form('remove-password') : null,
        identifier,
        missing: toAdd && { identifier: toAdd, page: site.page('account') },
        isDemanded,
        minLength: site.core.passwords?.minLength ?? 8,
        // The current password does not replace a second factor.
        reauthenticate: password && !hasFactor ? null : visit.confirmFirst('password'),
      };
    },
  });
}

/** @internal */
export function passwordView(
  { change, set, remove, identifier, missing, isDemanded, minLength, reauthenticate }: PasswordValues,
  { account, returnTo }: CommonValues,
  words: Words,
): CardView {
  const t = words.security.password;
  const named = usernameOf(account);
  const current = (form: FormValues, name: string) =>
    field(
      form,
      { name, label: words.fields.currentPassword, type: 'password', autocomplete: 'current-password' },
      words,
    );
  const chosen = (form: FormValues) =>
    field(
      form,
      {
        name: 'new_password',
        label: words.fields.newPassword,
        type: 'password',
        autocomplete: 'new-password',
        hint: words.passwordHint(minLength),
      },
      words,
    );
  // A form that was rejected has the error.
  const formIf = (form: FormValues, content: FormContent, inputs: HtmlValue) =>
    reauthenticate === null || form.isRefused
      ? formOf(form, content, words, inputs)
      : confirmLink(reauthenticate, words);
  return {
    title: words.fields.password,
    state: isDemanded
      ? t.demanded
      : missing
        ? t.missing[missing.identifier](change !== null)
        : change
          ? t.isSet
          : identifier === null
            ? t.none
            : `${t.none} ${t.use[identifier]}`,
    opens: change ? words.security.change : set && t.set,
    content: html`${missing && html`<p><a href="${missing.page}">${t.add[missing.identifier]}</a></p>`}${
      change &&
      formIf(
        change,
        { submit: t.change, returnTo: isDemanded ? returnTo : null },
        html`${named}${current(change, 'current_password')}${chosen(change)}<p data-part="quiet">${t.ends}</p>`,
      )
    }${set && formIf(set, { submit: t.set }, html`${named}${chosen(set)}`)}${
      remove &&
      question(
        { label: t.remove, text: t.removeText, submit: t.confirmRemove, form: remove },
        words,
        (content) => formIf(remove, content, html`${named}${current(remove, 'password')}`),
      )
    }`,
  };
}

/** Returns what the user of a page signs in with, in addition to the password. */
function identifierOf({ auth, site }: Visit): PasswordValues['identifier'] {
  const { email = null, username = null } = auth?.user ?? {};
  const hasUsername = username !== null && site.core.usernames !== null;
  if (email !== null) return hasUsername ? 'either' : 'email';
  return hasUsername ? 'username' : null;
}

declare module '../../values.js' {
  interface CardValues {
    password: PasswordValues;
  }
}
