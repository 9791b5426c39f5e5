import { AuthError } from '../../errors.js';
import { html } from '../../html.js';
import type { SessionAuthentication } from '../../sessions/request.js';
import { maskEmail } from '../../users/canonical.js';
import { reauthenticationOf } from '../../waiting/emailed-sign-ins.js';
import type { Words } from '../../words/pages/index.js';
import { CODES } from '../codes.js';
import {
  AGAIN,
  disclosure,
  field,
  forgottenLink,
  formOf,
  passkeyButton,
  sentOf,
  sentText,
} from '../controls.js';
import { type ErrorPlaces, Leave, type Page, page, type Sent, type View, type Visit } from '../page.js';
import { type ProviderValues, providerLinks, providersOf } from '../providers.js';
import type { Site } from '../site.js';
import type { CommonValues, FormValues } from '../values.js';
import { codeAgainForm, sendForm } from './emailed-code.js';

/** The values of the page `reauthenticate`. */
export interface ReauthenticateValues {
  /** The methods that the user can confirm with: `password`, `code`, `recovery_code`, `passkey`, `email_code`. */
  readonly methods: readonly string[];
  readonly form: FormValues;
  /** The form that waits until the user has confirmed, by its page and its name, such as `account/email`. Null if there is none. */
  readonly action: string | null;
  /** The form that emails a code. Null if the user cannot confirm with an emailed code. */
  readonly send: FormValues | null;
  /** Whether a code was emailed, so that it can be entered. */
  readonly isSent: boolean;
  /** Whether the emailed code no longer works, so that the page offers only another one. */
  readonly isOver: boolean;
  /** The address that a code is emailed to, without most of its letters. Null if the account has no email. */
  readonly sentTo: string | null;
  /** The time for which an emailed code is valid, in seconds. */
  readonly lifetime: number;
  readonly providers: readonly ProviderValues[];
  /** The page for a forgotten password. Null if there is none. */
  readonly forgotPassword: string | null;
  /** The page that the user came from: a page of the account, or the app's home. */
  readonly cancel: string;
  readonly signOutPage: string;
  readonly mount: string;
  /** The page that the user returns to. */
  readonly next: string;
}

/** @internal */
export function reauthenticate(site: Site): Page {
  const path = '/reauthenticate';
  const [confirm, send] = [site.route('post /reauthenticate'), site.route('post /reauthenticate/email')];
  return page<ReauthenticateValues>({
    name: 'reauthenticate',
    path,
    kind: 'entrance',
    access: 'session',
    openTo: 'any-task',
    forms: [
      // Without passwords, second factors and passkeys, only providers can confirm who the user is.
      ...(confirm
        ? [
            {
              name: 'confirm',
              route: confirm,
              errors: {
                invalid_credentials: 'password',
                invalid_code: { field: ['code', 'recovery_code', 'email_code'] },
                sign_in_expired: { steps: [] },
              } as ErrorPlaces,
              // The route says only that the code is wrong, which it is from now on.
              async restate(error: AuthError, { auth }: Pick<Visit, 'auth'>) {
                const isOver =
                  error.code === 'invalid_code' && auth !== null && (await isCodeOver(site, auth));
                return isOver ? new AuthError('sign_in_expired') : error;
              },
              next: ({ returnTo }: { returnTo: string | null }) => returnTo ?? site.home,
            },
          ]
        : []),
      ...(send
        ? [
            {
              name: 'send-code',
              route: send,
              ownFields: [AGAIN],
              next: ({ returnTo, fields }: Sent) =>
                site.page('reauthenticate', { done: sentOf(fields), returnTo }),
            },
          ]
        : []),
    ],
    async values(visit) {
      const { auth, returnTo, query, refused, done } = visit;
      const email = auth?.user.email ?? null;
      const next = returnTo ?? site.home;
      // A provider has led back here.
      if (query.has('provider') && !query.has('error')) return new Leave(next);
      const found = await site.reauthentications(visit);
      const from = returnTo === null ? undefined : site.pageAt(returnTo);
      // A page that requires a second factor would lead back here after any other method.
      const { needsFactor = false } = site.notes.of(visit.req);
      const isWeak = (method: string) => method === 'password' || method === 'email_code';
      const wasSent = done?.startsWith('sent') === true || refused?.form === 'confirm';
      const methods = needsFactor ? found.methods.filter((one) => !isWeak(one)) : found.methods;
      const providers = needsFactor ? [] : found.providers;
      const linked = providersOf(site, 'reauthenticate', (provider) =>
        site.page('reauthenticate', { returnTo, query: { provider } }),
      );
      return {
        methods,
        form: site.form(visit, { path }, 'confirm'),
        action: actionFor(visit),
        send: methods.includes('email_code') && send ? site.form(visit, { path }, 'send-code') : null,
        isSent: wasSent,
        isOver: wasSent && auth !== null && methods.includes('email_code') && (await isCodeOver(site, auth)),
        sentTo: email && maskEmail(email),
        lifetime: site.core.emailedSignIns?.lifetime ?? 0,
        providers: linked.filter(({ id }) => providers.includes(id)),
        forgotPassword: site.forgotPassword(returnTo),
        // A guard of the app would lead back here from its own page.
        cancel: from?.kind === 'account' && from.access === 'session' ? (returnTo ?? site.home) : site.home,
        signOutPage: site.page('sign-out'),
        mount: site.mount,
        next,
      };
    },
    view: reauthenticateView,
  });
}

/** Returns the form that waits. Only the user's own press has kept it, so that no link can name one. */
function actionFor({ site, req, auth, returnTo }: Visit): string | null {
  const press = auth && site.cookies.pressFor(returnTo, req, auth.session.id);
  const page = press && site.pageAt(returnTo ?? '');
  return page ? actionOf(page.name, press.form) : null;
}

/** Returns the name of what a form does, for the words about it: its page and its own name, without parameters. */
export function actionOf(page: string, form: string): string {
  return `${page}/${form.replace(/\/:.*/, '')}`;
}

/** Whether no emailed code can confirm who the user of a session is, because it has expired or was tried too often. */
async function isCodeOver({ core }: Site, { session }: SessionAuthentication): Promise<boolean> {
  return (await core.emailedSignIns?.hasCode(reauthenticationOf(session.id))) === false;
}

function reauthenticateView(values: ReauthenticateValues & CommonValues, words: Words): View {
  const { methods, form, send, providers, isSent, isOver, sentTo, lifetime, returnTo, mount, next } = values;
  const { forgotPassword, cancel, signOutPage, error, action, account } = values;
  const t = words.reauthenticate;
  const what = action === null ? undefined : t.actions[action];
  const has = (name: string) => methods.includes(name);
  const one = (name: string, label: string, hint: string | null, focus: boolean) => {
    // Each method has a form with this action. The error belongs to the one with its field.
    const own = name in form.errors ? form : { ...form, errors: {}, refusal: null };
    return formOf(
      own,
      { submit: name === 'recovery_code' ? words.secondFactor.submitRecovery : t.submit, returnTo },
      words,
      field(
        own,
        {
          name,
          label,
          hint,
          type: name === 'password' ? 'password' : 'text',
          autocomplete:
            name === 'password' ? 'current-password' : name === 'recovery_code' ? 'off' : 'one-time-code',
          ...(name === 'code' && { code: CODES.totp }),
          ...(name === 'email_code' && { code: CODES.emailed }),
          focus,
          isCode: true,
          aside: name === 'password' && forgottenLink(forgotPassword, words),
        },
        words,
      ),
    );
  };
  const mailbox = html`<strong>${sentTo}</strong>`;
  const isStrong = has('code');
  return {
    title: t.title,
    saysDone: isSent && has('email_code') && !isOver,
    ...(has('passkey') && { scripts: ['passkeys.js'] }),
    main: html`<p>${what === undefined ? t.lead : t.leadTo(what)}${account !== null && ` ${words.refusal.signedInAs(account)}`}</p>${
      has('code') && one('code', words.fields.code, words.secondFactor.totp, true)
    }${has('password') && !isStrong && one('password', words.fields.password, null, true)}${
      has('email_code') &&
      html`${
        isOver
          ? error === null && html`<p>${words.codeOver}</p>`
          : isSent
            ? html`${sentText(t.sent(mailbox, CODES.emailed.length, words.formats.duration(lifetime)), { email: sentTo, isCertain: true }, values, words)}${one('email_code', words.fields.code, null, true)}`
            : html`<p>${t.emailCode(mailbox)}</p>`
      }${send && (isSent && !isOver ? codeAgainForm(send, { email: null, returnTo }, words) : sendForm(send, { email: null, submit: isOver ? t.sendAgain : t.send, kind: 'primary', returnTo }, words))}`
    }${
      has('passkey') &&
      html`<p data-no-passkeys data-part="quiet">${words.security.passkeys.needsScript}</p><div data-part="stack">${passkeyButton(
        mount,
        {
          kind: 'reauthenticate',
          options: 'post /reauthenticate/options',
          send: 'post /reauthenticate',
          field: 'passkey',
          next,
        },
        words.secondFactor.usePasskey,
      )}</div>`
    }${providerLinks(providers, null, words)}${
      has('recovery_code') &&
      disclosure(
        {
          label: words.secondFactor.useRecovery,
          kind: 'alternative',
          forms: [],
          isOpen: 'recovery_code' in form.errors,
        },
        one('recovery_code', words.fields.recoveryCode, words.secondFactor.recoveryHint, false),
        words,
      )
    }${methods.length === 0 && providers.length === 0 && html`<p>${t.none}</p>`}<p><a href="${cancel}">${t.cancel}</a></p><p data-part="quiet"><a href="${signOutPage}">${words.signOut.title}</a></p>`,
  };
}

declare module '../values.js' {
  interface PageValues {
    reauthenticate: ReauthenticateValues;
  }
}
