import { html } from '../../html.js';
import type { Words } from '../../words/pages/index.js';
import { checkbox, disclosure, field, forgottenLink, formOf, orLine, passkeyButton } from '../controls.js';
import { passkeyIcon } from '../icons.js';
import { type Page, page, type Sent, type View } from '../page.js';
import { lastUsedTag, type ProviderValues, providerLinks, providersOf } from '../providers.js';
import { RESTORABLE, type Site } from '../site.js';
import { timeOf } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';
import { leaveSignedIn } from './signed-in.js';
import { requireEmail } from './typed-email.js';

/** The values of the page `sign-in`. */
export interface SignInValues {
  /** The form for a password. Null if passwords are not enabled. */
  readonly password: (FormValues & { readonly identifier: 'email' | 'username' | 'either' }) | null;
  /** The form for an emailed code. Null if emailed codes are not enabled. */
  readonly email: FormValues | null;
  /** Whether passkeys are enabled. */
  readonly passkeys: boolean;
  readonly providers: readonly ProviderValues[];
  /** The sign-in method that was last used in this browser: `password`, `email`, `passkey` or the id of a provider. */
  readonly lastUsed: string | null;
  /** The account that has just got a password, or the email that was typed last, to be filled in. Null if there is none. */
  readonly known: string | null;
  /** Whether the user wants to correct the email that is filled in. */
  readonly isOther: boolean;
  /** Until when an email can restore the account that was just deleted. ISO 8601. Null if there is none. */
  readonly restorableUntil: string | null;
  /** The page where users sign up. Null if they cannot. */
  readonly signUp: string | null;
  /** The page for a forgotten password. Null if there is none. */
  readonly forgotPassword: string | null;
  /** The path below which scripts call the routes of passkeys. */
  readonly mount: string;
  /** The page that the user returns to. */
  readonly next: string;
}

/** @internal */
export function signIn(site: Site): Page {
  const path = '/sign-in';
  const [byPassword, byEmail] = [site.route('post /signin/credential'), site.route('post /signin/email')];
  // One field for the email, with a button for each way to continue.
  const isShared = byPassword !== undefined && site.identifier !== 'username';
  return page<SignInValues>({
    name: 'sign-in',
    path,
    kind: 'entrance',
    access: 'anyone',
    forms: [
      ...(byPassword
        ? [
            {
              name: 'password',
              route: byPassword,
              remembers: 'password',
              account: 'credential',
              focuses: 'password',
              ownFields: [CAN_CREATE],
              next: ({ returnTo, fields, req }: Sent) => {
                const canOffer = fields.get(CAN_CREATE) === 'true' && site.hasPage('sign-in/passkey');
                return canOffer && !site.cookies.wasOffered(req)
                  ? site.page('sign-in/passkey', { returnTo })
                  : (returnTo ?? site.home);
              },
            },
          ]
        : []),
      ...(byEmail
        ? [
            {
              name: 'send-code',
              route: byEmail,
              emails: 'email',
              keepsReturnTo: true,
              ...(isShared && {
                within: { form: 'password', fields: { email: 'credential', remember_me: 'remember_me' } },
              }),
              check: requireEmail,
              next: ({ returnTo }: { returnTo: string | null }) => site.page('sign-in/email', { returnTo }),
            },
          ]
        : []),
    ],
    values(visit) {
      const { returnTo, lastWay, sentTo, query, done } = visit;
      const leave = leaveSignedIn(visit);
      if (leave) return leave;
      return {
        password: byPassword
          ? { ...site.form(visit, { path }, 'password'), identifier: site.identifier }
          : null,
        email: byEmail ? site.form(visit, { path }, 'send-code') : null,
        passkeys: site.route('post /signin/passkey') !== undefined,
        providers: providersOf(site, 'authorize', (provider) =>
          site.page('sign-in', { returnTo, query: { provider } }),
        ),
        lastUsed: lastWay,
        known: sentTo ?? visit.known,
        isOther: query.has(OTHER),
        restorableUntil: done === RESTORABLE ? endOfGrace(site) : null,
        signUp: site.canSignUp ? site.page('sign-up', { returnTo }) : null,
        forgotPassword: site.forgotPassword(returnTo),
        mount: site.mount,
        next: returnTo ?? site.home,
      };
    },
    view: signInView,
  });
}

function signInView(values: SignInValues & CommonValues, words: Words): View {
  const { password, email, passkeys, providers, lastUsed, known, returnTo, mount } = values;
  const { appName, signUp, forgotPassword, isOther, restorableUntil } = values;
  const t = words.signIn;
  const isShared = password !== null && password.identifier !== 'username';
  const byCode = html`${t.byEmail}${lastUsedTag(lastUsed === 'email', words)}`;
  const byPassword =
    password &&
    formOf(
      password,
      {
        submit: t.submit,
        returnTo,
        also: isShared && email ? { submit: byCode, form: email } : null,
      },
      words,
      html`${field(
        password,
        {
          name: 'credential',
          label: words.fields[password.identifier],
          type: password.identifier === 'email' ? 'email' : 'text',
          autocomplete: passkeys ? 'username webauthn' : 'username',
          value: known,
          focus: known === null || isOther,
          isCode: true,
        },
        words,
      )}${field(
        password,
        {
          name: 'password',
          label: words.fields.password,
          type: 'password',
          autocomplete: 'current-password',
          focus: known !== null && !isOther,
          aside: forgottenLink(forgotPassword, words),
        },
        words,
      )}${checkbox(password, 'remember_me', words.fields.remember)}`,
    );
  const byEmail =
    email &&
    !isShared &&
    formOf(
      email,
      { submit: t.byEmail, kind: password ? 'secondary' : 'primary', returnTo },
      words,
      html`${field(
        email,
        {
          name: 'email',
          label: words.fields.email,
          type: 'email',
          autocomplete: passkeys && !password ? 'username webauthn' : 'email',
          hint: t.byEmailHint,
          value: known,
          focus: !password,
        },
        words,
      )}${checkbox(email, 'remember_me', words.fields.remember)}`,
    );
  const others =
    (providers.length > 0 || passkeys) &&
    html`<div data-part="others"${providers.length === 0 && html` data-scripted`}>${providerLinks(providers, lastUsed, words)}${
      passkeys &&
      html`<div data-part="stack">${passkeyButton(
        mount,
        {
          kind: 'sign-in',
          options: 'post /signin/passkey/options',
          send: 'post /signin/passkey',
          next: values.next,
        },
        html`${passkeyIcon()}${t.byPasskey}${lastUsedTag(lastUsed === 'passkey', words)}`,
      )}</div>`
    }${(password || email) && orLine(words)}</div>`;
  return {
    title: t.title,
    heading: t.titleOf(appName),
    ...(passkeys && { scripts: ['passkeys.js'] }),
    main: html`${restorableUntil !== null && html`<p data-part="done" role="status">${t.restorable(timeOf(restorableUntil, words, 'day'))}</p>`}${others}${byPassword}${
      byPassword && byEmail
        ? disclosure(
            { label: byCode, kind: 'alternative', forms: email ? [email] : [], isOpen: lastUsed === 'email' },
            byEmail,
            words,
          )
        : byEmail
    }${signUp !== null && html`<p>${t.noAccount} <a href="${signUp}" data-takes>${t.signUp}</a></p>`}`,
  };
}

/** The parameter of a link for a user who has mistyped the email. */
export const OTHER = 'other';
/** Returns when an account that was just deleted is permanently deleted. */
function endOfGrace({ core }: Site): string {
  const { graceDays } = core.settings.accountDeletion;
  return new Date(core.database.clock.now() + graceDays * 24 * 60 * 60 * 1000).toISOString();
}

/** The field that a script adds in a browser that can create passkeys on this device. */
const CAN_CREATE = 'can_create_passkey';

declare module '../values.js' {
  interface PageValues {
    'sign-in': SignInValues;
  }
}
