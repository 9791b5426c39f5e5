import { html } from '../../html.js';
import type { Words } from '../../words/pages/index.js';
import { field, formOf, orLine, supportLink } from '../controls.js';
import { stateIcon } from '../icons.js';
import { ownFields } from '../own-fields.js';
import { type ErrorPlaces, type Page, page, type Sent, type View } from '../page.js';
import { type ProviderValues, providerLinks, providersOf } from '../providers.js';
import type { Site } from '../site.js';
import type { CommonValues, FormValues } from '../values.js';
import { type NewAccountValues, newAccount, newAccountInputs } from './new-account.js';
import { leaveSignedIn } from './signed-in.js';
import { requireEmail } from './typed-email.js';

/** The values of the page `sign-up`. */
export interface SignUpValues {
  /** The form for an account with a password. Null if users cannot create one. */
  readonly password:
    | (FormValues &
        NewAccountValues & {
          /** Whether a forgotten password can be reset by email. */
          readonly resets: boolean;
        })
    | null;
  /** The form for an account that is created with an emailed code. Null if users cannot create one. */
  readonly email: FormValues | null;
  readonly providers: readonly ProviderValues[];
  /** Whether users cannot sign up. */
  readonly isClosed: boolean;
  /** Whether an email with the next step was sent. */
  readonly isSent: boolean;
  /** Whether that email looks different to an address that has an account, which the page conceals. */
  readonly isConcealed: boolean;
  /** The address that it was sent to. Null if it is not known. */
  readonly sentTo: string | null;
  /** The email that was typed last, to be filled in. Null if there is none. */
  readonly known: string | null;
  /** The page where users sign up with another email. */
  readonly again: string;
  readonly signIn: string;
}

/** @internal */
export function signUp(site: Site): Page {
  const path = '/sign-up';
  const byPassword = site.signUpRoute;
  const byEmail = site.emailSignsUp ? site.route('post /signin/email') : undefined;
  return page<SignUpValues>({
    name: 'sign-up',
    path,
    kind: 'entrance',
    access: 'anyone',
    forms: [
      ...(byPassword
        ? [
            {
              name: 'password',
              route: byPassword,
              errors: {
                email_taken: { field: 'email', steps: ['sign-in', 'forgot-password'] },
                username_taken: 'username',
              } as ErrorPlaces,
              remembers: 'password',
              emails: 'email',
              names: 'username',
              focuses: 'password',
              keepsReturnTo: true,
              next: nextOf,
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
              // Both are sent from one field for the email.
              ...(byPassword && {
                within: {
                  form: 'password',
                  fields: { email: 'email' },
                  keeps: ['username', ...ownFields(site).map(({ name }) => name)],
                },
              }),
              check: requireEmail,
              next: ({ returnTo }: Sent) => site.page('sign-in/email', { returnTo }),
            },
          ]
        : []),
    ],
    values(visit) {
      const { returnTo, done, sentTo, known } = visit;
      const leave = leaveSignedIn(visit);
      if (leave) return leave;
      return {
        password: byPassword
          ? {
              ...site.form(visit, { path }, 'password'),
              ...newAccount(site),
              resets: site.hasPage('forgot-password'),
            }
          : null,
        email: byEmail ? site.form(visit, { path }, 'send-code') : null,
        providers: providersOf(site, 'authorize', (provider) =>
          site.page('sign-up', { returnTo, query: { provider } }),
        ),
        isClosed: !site.canSignUp,
        isSent: done === 'check-mail',
        isConcealed: site.concealsEmails,
        sentTo,
        known,
        again: site.page('sign-up', { returnTo }),
        signIn: site.page('sign-in', { returnTo }),
      };
    },
    view: signUpView,
  });

  /** A sign-up creates a session, or waits for an email or a first sign-in. */
  function nextOf({ reply, returnTo, fields }: Sent): string {
    const { emailVerification } = site.core;
    const hasEmail = Boolean(fields.get('email'));
    const hasCode = hasEmail && emailVerification?.codes && emailVerification.isOnSignUp;
    if (reply.status === 202 && emailVerification?.codes)
      return site.page('verify-email', { done: 'sent', returnTo });
    if (reply.issue)
      return hasCode ? site.page('verify-email', { done: 'sent', returnTo }) : (returnTo ?? site.home);
    const mustConfirm = hasEmail && emailVerification?.isFirstStep === true;
    if (reply.status === 202 || mustConfirm) return site.page('sign-up', { done: 'check-mail', returnTo });
    const asksForCode = hasEmail && emailVerification?.asksAtSignIn === true;
    return site.page('sign-in', { done: asksForCode ? 'signed-up-to-confirm' : 'signed-up', returnTo });
  }
}

function signUpView(values: SignUpValues & CommonValues, words: Words): View {
  const { password, email, providers, isClosed, isSent, isConcealed, sentTo, returnTo, signIn } = values;
  const { known, again } = values;
  const t = words.signUp;
  const isEither = password?.identifier === 'either';
  const back = html`<p>${t.haveAccount} <a href="${signIn}" data-takes>${words.signIn.title}</a></p>`;
  if (isSent) {
    const address = sentTo === null ? words.forgotPassword.anyAddress : html`<strong>${sentTo}</strong>`;
    const other = html`<p><a href="${again}">${words.emailedSignIn.other}</a></p>`;
    return {
      title: t.checkMail,
      icon: stateIcon('mail'),
      main: isConcealed
        ? html`<p>${t.checkMailText(address)}</p>${other}${back}`
        : html`<p>${t.confirmText(address)}</p>${other}<p><a href="${signIn}">${words.forgotPassword.back}</a></p>`,
    };
  }
  if (isClosed) {
    const { support } = values.links;
    return {
      title: t.title,
      main: html`<p>${support === undefined ? t.closed : html`${t.closedAsk} ${supportLink(support, words)}`}</p>${back}`,
    };
  }
  return {
    title: t.title,
    main: html`${
      providers.length > 0 &&
      html`${providerLinks(providers, null, words)}${(password || email) && orLine(words)}`
    }${
      password &&
      formOf(
        password,
        {
          submit: t.submit,
          returnTo,
          also: email && { submit: t.byEmail, form: email, hint: t.byEmailHint },
        },
        words,
        html`${
          password.identifier !== 'username' &&
          field(
            password,
            {
              name: 'email',
              label: words.fields.email,
              type: 'email',
              // Password managers save the account under this field.
              autocomplete: password.username ? 'email' : 'username',
              value: known,
              focus: true,
              required: password.identifier === 'email',
              hideOptional: isEither,
              hint: isEither ? t.either(password.resets) : null,
            },
            words,
          )
        }${newAccountInputs(password, words)}`,
      )
    }${
      email &&
      !password &&
      formOf(
        email,
        { submit: t.byEmailAlone, returnTo },
        words,
        field(
          email,
          {
            name: 'email',
            label: words.fields.email,
            type: 'email',
            autocomplete: 'username',
            value: known,
            focus: true,
          },
          words,
        ),
      )
    }${back}`,
  };
}

declare module '../values.js' {
  interface PageValues {
    'sign-up': SignUpValues;
  }
}
