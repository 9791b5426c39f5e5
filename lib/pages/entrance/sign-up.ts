import { html } from '../../html.js';
import { errorSummary, field, formOf } from '../controls.js';
import { Leave, type Page, page, type Sent } from '../page.js';
import type { Site } from '../site.js';
import type { FormValues } from '../values.js';
import { type OwnField, orLine, ownFields, ownInputs } from './fields.js';
import { type ProviderValues, providerLinks, providersOf } from './ways.js';

/** The values of the page `sign-up`. */
export interface SignUpValues {
  /** The form of an account with a password. Null if there is none. */
  readonly password:
    | (FormValues & {
        readonly identifier: 'email' | 'username' | 'either';
        /** Whether an account can have a username besides the email. */
        readonly username: boolean;
        /** The least number of characters of a password. */
        readonly minLength: number;
        readonly fields: readonly OwnField[];
      })
    | null;
  /** The form of an account whose first sign-in is by an emailed code. Null if there is none. */
  readonly email: FormValues | null;
  readonly providers: readonly ProviderValues[];
  /** Whether users cannot sign up. */
  readonly isClosed: boolean;
  /** Whether an email with the next step was sent. */
  readonly isSent: boolean;
  readonly signIn: string;
}

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
        ? [{ name: 'password', route: byPassword, remembers: 'password', keepsReturnTo: true, next: nextOf }]
        : []),
      ...(byEmail
        ? [
            {
              name: 'send-code',
              route: byEmail,
              remembers: 'email',
              keepsReturnTo: true,
              next: ({ returnTo }: Sent) => site.page('sign-in/email', { returnTo }),
            },
          ]
        : []),
    ],
    values(visit) {
      const { auth, returnTo, refused, query } = visit;
      if (auth && !refused) return new Leave(returnTo ?? site.home);
      return {
        password: byPassword
          ? {
              ...site.form(visit, { path }, 'password'),
              identifier: site.signUpIdentifier,
              username: site.core.usernames !== null,
              minLength: site.core.passwords?.minLength ?? 8,
              fields: ownFields(site),
            }
          : null,
        email: byEmail ? site.form(visit, { path }, 'send-code') : null,
        providers: providersOf(site, 'authorize', (provider) =>
          site.page('sign-in', { returnTo, query: { provider } }),
        ),
        isClosed: !site.canSignUp,
        isSent: query.get('done') === 'check-mail',
        signIn: site.page('sign-in', { returnTo }),
      };
    },
    view(values, words) {
      const { password, email, providers, isClosed, isSent, returnTo, signIn } = values;
      const t = words.signUp;
      const back = html`<p>${t.haveAccount} <a href="${signIn}">${words.signIn.title}</a></p>`;
      if (isSent) return { title: t.checkMail, main: html`<p>${t.checkMailText}</p>${back}` };
      if (isClosed) return { title: t.title, main: html`<p>${t.closed}</p>${back}` };
      const forms = [password, email].filter((form) => form !== null);
      return {
        title: t.title,
        main: html`${errorSummary(values, forms, words)}${
          password &&
          formOf(
            password,
            { submit: t.submit, returnTo },
            html`${
              password.identifier !== 'username' &&
              field(
                password,
                {
                  name: 'email',
                  label: words.fields.email,
                  type: 'email',
                  autocomplete: 'email',
                  focus: true,
                  required: password.identifier === 'email',
                },
                words,
              )
            }${
              password.username &&
              field(
                password,
                {
                  name: 'username',
                  label: words.fields.username,
                  autocomplete: 'username',
                  required: password.identifier === 'username',
                  focus: password.identifier === 'username',
                  isCode: true,
                },
                words,
              )
            }${ownInputs(password, password.fields, words)}${field(
              password,
              {
                name: 'password',
                label: words.fields.password,
                type: 'password',
                autocomplete: 'new-password',
                hint: words.passwordHint(password.minLength),
              },
              words,
            )}`,
          )
        }${password && email && orLine(words)}${
          email &&
          formOf(
            email,
            { submit: t.byEmail, kind: password ? 'secondary' : 'primary', returnTo },
            field(
              email,
              {
                name: 'email',
                label: words.fields.email,
                type: 'email',
                autocomplete: 'email',
                focus: !password,
              },
              words,
            ),
          )
        }${providers.length > 0 && html`${forms.length > 0 && orLine(words)}${providerLinks(providers, null, words)}`}${back}`,
      };
    },
  });

  /** A sign-up creates a session, or waits for an email or a first sign-in. */
  function nextOf({ reply, returnTo }: Sent): string {
    if (reply.issue) return returnTo ?? site.home;
    if (reply.status === 202) return site.page('sign-up', { done: 'check-mail', returnTo });
    return site.page('sign-in', { done: 'signed-up', returnTo });
  }
}

declare module '../values.js' {
  interface PageValues {
    'sign-up': SignUpValues;
  }
}
