import { html } from '../../html.js';
import { errorSummary, field, formOf, hidden, usernameOf } from '../controls.js';
import { type Page, page } from '../page.js';
import type { Site } from '../site.js';
import type { FormValues } from '../values.js';

/** The values of the page `verify-email`. */
export interface VerifyEmailValues {
  readonly form: FormValues;
  /** The token of the link. Null if there is none, or if it is no longer valid. */
  readonly token: string | null;
  /** The email that is verified. Null without a valid link. */
  readonly of: string | null;
  /** Whether the password must be entered, because the account is not signed in here. */
  readonly needsPassword: boolean;
  /** Whether a sign-in was refused because the email is not verified yet. */
  readonly isWaiting: boolean;
  /** Whether it was verified just now. */
  readonly isDone: boolean;
  /** The form that emails another link. Null without a session. */
  readonly send: FormValues | null;
  readonly signIn: string;
  /** The page that the user returns to. */
  readonly next: string;
}

export function verifyEmail(site: Site): Page | null {
  const path = '/verify-email';
  const [verify, send] = [site.route('post /verify-email'), site.route('post /email-verifications')];
  if (!verify || !send) return null;
  return page<VerifyEmailValues>({
    name: 'verify-email',
    path,
    kind: 'entrance',
    access: 'anyone',
    keepsReturnTo: true,
    forms: [
      {
        name: 'confirm',
        route: verify,
        next: ({ returnTo }) => site.page('verify-email', { done: 'email-verified', returnTo }),
      },
      {
        name: 'send',
        route: send,
        next: ({ returnTo }) => site.page('verify-email', { done: 'sent', returnTo }),
      },
    ],
    async values(visit) {
      const { auth, returnTo, query, refused } = visit;
      const { token, found } = await site.linkOf(visit, ['verify-email']);
      const isOwn = found !== null && auth?.user.id === found.record.user.id;
      return {
        form: site.form(visit, { path }, 'confirm'),
        token: found && token,
        of: found && site.nameOf(found.record.user),
        // A browser of the sign-up needs none, so the password is asked for once the route has.
        needsPassword: !isOwn && (!site.verifiesByClick || refused?.form === 'confirm'),
        isWaiting: token === null && query.has('waiting'),
        isDone: query.get('done') === 'email-verified' && token === null,
        send: auth && auth.user.emailVerifiedAt === null ? site.form(visit, { path }, 'send') : null,
        signIn: site.page('sign-in', { returnTo }),
        next: auth ? (returnTo ?? site.home) : site.page('sign-in', { returnTo }),
      };
    },
    view(values, words) {
      const { form, token, of, needsPassword, isWaiting, isDone, send, signIn, next, returnTo, account } =
        values;
      const t = words.verifyEmail;
      const again = send && formOf(send, { submit: t.send, kind: 'secondary', returnTo });
      const onward = (label: string) => html`<p><a href="${next}" data-part="button">${label}</a></p>`;
      if (isDone)
        return { title: t.done, main: onward(account === null ? words.signIn.title : words.continue) };
      if (token === null || of === null) {
        const isNew = isWaiting || (send !== null && values.done === 'sent');
        return {
          title: isNew ? t.waiting : t.invalid,
          main: html`${errorSummary(values, send ? [send] : [], words)}<p>${isNew ? (send ? t.waitingHere : t.waitingText) : t.invalidText}</p>${again}${
            !again && html`<p><a href="${signIn}" data-part="button">${words.signIn.title}</a></p>`
          }`,
        };
      }
      return {
        title: t.title,
        main: html`${errorSummary(values, [form], words)}<p>${t.lead(of)}</p>${formOf(
          form,
          { submit: t.submit, returnTo },
          html`${hidden('token', token)}${
            needsPassword &&
            html`${usernameOf(of)}${field(
              form,
              {
                name: 'password',
                label: words.fields.password,
                type: 'password',
                autocomplete: 'current-password',
                hint: t.password,
                focus: true,
              },
              words,
            )}`
          }`,
        )}`,
      };
    },
  });
}

/** The values of the page `change-email`. */
export interface ChangeEmailValues {
  readonly form: FormValues;
  /** The token of the link. Null if it is no longer valid. */
  readonly token: string | null;
  /** The new email. Null without a valid link. */
  readonly newEmail: string | null;
  /** The present email of the account. Without its session, most letters are hidden. */
  readonly of: string | null;
  /** Whether the password must be entered, because the account is not signed in here. */
  readonly needsPassword: boolean;
  readonly isDone: boolean;
  readonly next: string;
}

export function changeEmail(site: Site): Page | null {
  const path = '/change-email';
  const route = site.route('post /email-changes/confirm');
  if (!route) return null;
  return page<ChangeEmailValues>({
    name: 'change-email',
    path,
    kind: 'entrance',
    access: 'anyone',
    forms: [{ name: 'confirm', route, next: () => site.page('change-email', { done: 'email-changed' }) }],
    async values(visit) {
      const { auth, query } = visit;
      const { token, found } = await site.linkOf(visit, ['verify-new-email']);
      const isOwn = found !== null && auth?.user.id === found.record.user.id;
      return {
        form: site.form(visit, { path }, 'confirm'),
        token: found && token,
        newEmail: found?.email ?? null,
        // Someone else can have the new mailbox, because it was misspelled.
        of: found && (isOwn ? site.nameOf(found.record.user) : masked(site.nameOf(found.record.user))),
        needsPassword: !isOwn && site.core.passwords !== null,
        isDone: query.get('done') === 'email-changed' && token === null,
        next: auth ? site.home : site.page('sign-in'),
      };
    },
    view(values, words) {
      const { form, token, newEmail, of, needsPassword, isDone, next, account } = values;
      const t = words.changeEmail;
      if (isDone || token === null || newEmail === null)
        return {
          title: isDone ? t.done : t.invalid,
          main: html`${!isDone && html`<p>${t.invalidText}</p>`}<p><a href="${next}" data-part="button">${account === null ? words.signIn.title : words.continue}</a></p>`,
        };
      return {
        title: t.title,
        main: html`${errorSummary(values, [form], words)}<p>${t.lead(newEmail)}</p>${
          of !== null && html`<p>${t.account(of)}</p>`
        }${formOf(
          form,
          { submit: t.submit },
          html`${hidden('token', token)}${
            needsPassword &&
            field(
              form,
              {
                name: 'password',
                label: words.fields.password,
                type: 'password',
                autocomplete: 'current-password',
                hint: t.password,
                focus: true,
              },
              words,
            )
          }`,
        )}`,
      };
    },
  });
}

/** Hides most letters of an email. */
function masked(email: string | null): string | null {
  return email?.replace(/(?<=^.)[^@]*(?=@)/, '…') ?? null;
}

declare module '../values.js' {
  interface PageValues {
    'verify-email': VerifyEmailValues;
    'change-email': ChangeEmailValues;
  }
}
