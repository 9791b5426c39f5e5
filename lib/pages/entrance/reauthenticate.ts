import { html } from '../../html.js';
import { inWords } from '../../http/refusal-page.js';
import { maskEmail } from '../../users/canonical.js';
import { CODES } from '../codes.js';
import { disclosure, field, forgottenLink, formOf, passkeyButton, sentText } from '../controls.js';
import { Leave, type Page, page, type View } from '../page.js';
import { type ProviderValues, providerLinks, providersOf } from '../providers.js';
import type { Site } from '../site.js';
import type { CommonValues, FormValues } from '../values.js';
import type { Words } from '../words/index.js';

/** The values of the page `reauthenticate`. */
export interface ReauthenticateValues {
  /** The methods that the user can confirm with: `password`, `code`, `recovery_code`, `passkey`, `email_code`. */
  readonly methods: readonly string[];
  readonly form: FormValues;
  /** The form that emails a code. Null if the user cannot confirm with an emailed code. */
  readonly send: FormValues | null;
  /** Whether a code was emailed, so that it can be entered. */
  readonly isSent: boolean;
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
              next: ({ returnTo }: { returnTo: string | null }) =>
                site.page('reauthenticate', { done: 'sent', returnTo }),
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
      const methods = needsFactor ? found.methods.filter((one) => !isWeak(one)) : found.methods;
      const providers = needsFactor ? [] : found.providers;
      const linked = providersOf(site, 'reauthenticate', (provider) =>
        site.page('reauthenticate', { returnTo, query: { provider } }),
      );
      return {
        methods,
        form: site.form(visit, { path }, 'confirm'),
        send: methods.includes('email_code') && send ? site.form(visit, { path }, 'send-code') : null,
        isSent: done === 'sent' || refused?.form === 'confirm',
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

function reauthenticateView(values: ReauthenticateValues & CommonValues, words: Words): View {
  const { methods, form, send, providers, isSent, sentTo, lifetime, returnTo, mount, next } = values;
  const { forgotPassword, cancel, signOutPage } = values;
  const t = words.reauthenticate;
  const has = (name: string) => methods.includes(name);
  const one = (name: string, label: string, hint: string | null, focus: boolean) =>
    formOf(
      form,
      { submit: t.submit, returnTo },
      words,
      field(
        form,
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
  const mailbox = html`<strong>${sentTo}</strong>`;
  const isStrong = has('code');
  return {
    title: t.title,
    saysDone: isSent && has('email_code'),
    ...(has('passkey') && { scripts: ['passkeys.js'] }),
    main: html`<p>${t.lead}</p>${
      has('code') && one('code', words.fields.code, words.secondFactor.totp, true)
    }${has('password') && !isStrong && one('password', words.fields.password, null, true)}${
      has('email_code') &&
      html`${
        isSent
          ? html`${sentText(t.sent(mailbox, CODES.emailed.length, inWords(lifetime)), values)}${one('email_code', words.fields.code, null, true)}`
          : html`<p>${t.emailCode(mailbox)}</p>`
      }${send && formOf(send, { submit: isSent ? t.sendAgain : t.send, kind: isSent ? 'link' : 'primary', returnTo }, words)}`
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
