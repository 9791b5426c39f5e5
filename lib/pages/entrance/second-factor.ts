import { AuthError } from '../../errors.js';
import { type Html, type HtmlValue, html } from '../../html.js';
import { canonicalEmail, maskEmail } from '../../users/canonical.js';
import type { Words } from '../../words/pages/index.js';
import { CODES } from '../codes.js';
import {
  AGAIN,
  checkbox,
  disclosure,
  field,
  formOf,
  hidden,
  passkeyButton,
  sentOf,
  sentText,
  supportLink,
} from '../controls.js';
import { Leave, type Page, page, type View } from '../page.js';
import type { Site } from '../site.js';
import type { CommonValues, FormValues } from '../values.js';
import { codeAgainForm } from './emailed-code.js';
import { isCompletedElsewhere, signedInView } from './signed-in.js';

/** The values of the page `second-factor`. */
export interface SecondFactorValues {
  /** The methods that can complete the sign-in, such as `totp`, `recovery_code`, `passkey` and `email_code`. Empty if it has expired. */
  readonly methods: readonly string[];
  /** Whether the sign-in was completed in another tab. */
  readonly isCompleted: boolean;
  /** Whether the user has entered the password. */
  readonly wasPassword: boolean;
  /** For how many days the user can trust this browser, so that it stands in for the second factor. Null if they cannot. */
  readonly trustDays: number | null;
  readonly form: FormValues;
  /**
   * The email or username of the account. Most letters of an email are hidden unless it was typed in this browser. Null
   * without a pending sign-in, or if the account has neither.
   */
  readonly of: string | null;
  /**
   * The address that a code was emailed to, without most of its letters unless it was typed in this browser. Null if no code
   * was emailed.
   */
  readonly sentTo: string | null;
  /** Whether the code also confirms the address, which is not confirmed yet. */
  readonly verifies: boolean;
  /** The page where users sign up again if the address to confirm is wrong. Null if they cannot. */
  readonly signUpAgain: string | null;
  /** The form that emails the code again. */
  readonly send: FormValues;
  readonly signIn: string;
  readonly mount: string;
  /** The page that the user returns to. */
  readonly next: string;
  /** The page that opens instead if the sign-in removes the password. Null if it cannot. */
  readonly dropped: string | null;
}

/** @internal */
export function secondFactor(site: Site): Page | null {
  const path = '/second-factor';
  const [complete, send] = [
    site.route('post /signin/second-factor'),
    site.route('post /signin/second-factor/send'),
  ];
  if (!complete || !send) return null;
  return page<SecondFactorValues>({
    name: 'second-factor',
    path,
    kind: 'entrance',
    access: 'anyone',
    forms: [
      {
        name: 'confirm',
        route: complete,
        errors: { invalid_code: 'code', invalid_credentials: 'code', sign_in_expired: { steps: [] } },
        ownFields: [VERIFIES],
        next: ({ returnTo, fields }) => returnTo ?? afterSignIn(site, fields.get('method')),
      },
      {
        name: 'send',
        route: send,
        ownFields: [AGAIN],
        next: ({ returnTo, fields }) => site.page('second-factor', { done: sentOf(fields), returnTo }),
      },
    ],
    async values(visit) {
      const { auth, returnTo, refused } = visit;
      const methods = await methodsOf(site);
      if (auth && methods.length === 0 && !refused) return new Leave(returnTo ?? site.home);
      const isCompleted = isCompletedElsewhere(visit);
      const pending = methods.length > 0 ? await site.core.pendings.find(undefined) : null;
      const email = pending?.record.user.email ?? null;
      const isTyped = email !== null && canonicalEmail(visit.known) === email;
      // The account can be that of someone else, who has not typed the address here.
      const shown = email !== null && !isTyped ? maskEmail(email) : email;
      const next = returnTo ?? site.home;
      const verifies = pending
        ? pending.record.user.emailVerifiedAt === null
        : refused?.fields.get(VERIFIES) === 'true';
      const waitsForFactor = pending?.row.step === 'second_factor';
      return {
        methods,
        isCompleted,
        ...(isCompleted && { error: null }),
        wasPassword: pending?.row.amr.includes('pwd') ?? false,
        trustDays: waitsForFactor
          ? site.core.secondFactors.trustDaysAfter(pending.record.account, pending.row.amr)
          : null,
        form: site.form(visit, { path }, 'confirm'),
        of: shown ?? (pending && site.nameOf(pending.record.user)),
        sentTo: methods.includes('email_code') ? shown : null,
        verifies,
        signUpAgain: verifies && site.canSignUp ? site.page('sign-up', { returnTo }) : null,
        send: site.form(visit, { path }, 'send'),
        signIn: site.page('sign-in', { returnTo }),
        mount: site.mount,
        next,
        dropped: pending && pending.row.provesEmail !== null ? site.passwordDropped(next) : null,
      };
    },
    view: secondFactorView,
  });
}

/** Returns the next page of a user who was on the way to none: after a recovery code, the one that sets up the app again. */
function afterSignIn(site: Site, method: string | undefined): string {
  if (method !== 'recovery_code' || !site.hasPage('account/security')) return site.home;
  return site.page('account/security', { done: 'recovery-code-used' });
}

function secondFactorView(values: SecondFactorValues & CommonValues, words: Words): View {
  const {
    methods,
    isCompleted,
    wasPassword,
    trustDays,
    form,
    of,
    sentTo,
    verifies,
    signUpAgain,
    send,
    signIn,
    returnTo,
    mount,
    next,
    dropped,
    error,
    links,
  } = values;
  const t = words.secondFactor;
  const title = verifies ? words.verifyEmail.title : t.title;
  if (isCompleted) return signedInView(values, words);
  if (methods.length === 0)
    return {
      title,
      main: html`${error === null && html`<p>${t.expired}</p>`}<p><a href="${signIn}" data-part="button">${words.signIn.title}</a></p>`,
    };
  const has = (name: string) => methods.includes(name);
  const { method: typed } = form.typed;
  const isTyped = (method: string) => typed === method;
  // The button for a passkey sends the choice too.
  const trust = trustDays !== null && checkbox({ ...form, key: 'trust' }, 'trust_device', t.trust(trustDays));
  // Each method has a form with this action. The error belongs to the form that was sent.
  const codeForm = (method: string, label: string, hint: string | null, focus: boolean): Html => {
    const own = {
      ...form,
      key: method,
      ...(!isTyped(method) && { errors: {}, isRefused: false, refusal: null }),
    };
    return formOf(
      own,
      { submit: method === 'recovery_code' ? t.submitRecovery : t.submit, returnTo },
      words,
      html`${hidden('method', method)}${verifies && hidden(VERIFIES, 'true')}${field(
        own,
        {
          name: 'code',
          label,
          hint,
          autocomplete: method === 'recovery_code' ? 'off' : 'one-time-code',
          ...(method === 'totp' && { code: CODES.totp }),
          ...(method === 'email_code' && { code: CODES.emailed }),
          focus,
          isCode: true,
        },
        words,
      )}${method === 'totp' && trust}`,
    );
  };
  return {
    title,
    saysDone: has('email_code'),
    ...(has('passkey') && { scripts: ['passkeys.js'] }),
    // The sentence about an emailed code names the account too.
    main: html`${of !== null && !has('email_code') && html`<p>${t.account(of)}</p>`}${has('totp') && codeForm('totp', words.fields.code, t.totp, true)}${
      has('email_code') &&
      html`${sentText((verifies ? t.verifyCode : t.emailCode)(html`<strong>${sentTo}</strong>`, CODES.emailed.length), { email: sentTo, isCertain: true }, values, words)}${codeForm('email_code', words.fields.code, null, true)}${codeAgainForm(send, { email: null, returnTo }, words)}${verifies && wrongAddress({ signUpAgain, support: links.support }, words)}`
    }${
      has('passkey') &&
      html`${!has('totp') && !has('email_code') && html`<p>${t.passkey(wasPassword)}</p>`}<p data-no-passkeys data-part="quiet">${words.security.passkeys.needsScript}</p>${
        !has('totp') && trust && html`<div data-with-passkeys hidden>${trust}</div>`
      }<div data-part="stack">${passkeyButton(
        mount,
        {
          kind: 'second-factor',
          options: 'post /signin/second-factor/options',
          send: 'post /signin/second-factor',
          body: { method: 'passkey' },
          next,
          ...(dropped !== null && { more: html` data-dropped="${dropped}"` }),
          isPrimary: !has('totp'),
        },
        t.usePasskey,
      )}</div>`
    }${
      has('recovery_code') &&
      disclosure(
        {
          label: t.useRecovery,
          kind: 'alternative',
          forms: [],
          isOpen: methods.length === 1 || isTyped('recovery_code'),
        },
        codeForm('recovery_code', words.fields.recoveryCode, t.recoveryHint, false),
        words,
      )
    }${
      has('recovery_code') &&
      html`<p data-part="quiet">${t.lost(values.links.support === undefined ? null : supportLink(values.links.support, words), values.appName)}</p>`
    }<p data-part="quiet">${t.expires} <a href="${signIn}">${t.cancel}</a></p>`,
  };
}

/** Says what a user can do whose account has a mistyped address, which no one can change before it is confirmed. */
function wrongAddress(
  { signUpAgain, support }: { readonly signUpAgain: string | null; readonly support: string | undefined },
  words: Words,
): HtmlValue {
  const t = words.secondFactor.wrongAddress;
  const signUp = signUpAgain !== null && html`<a href="${signUpAgain}">${t.signUpAgain}</a>`;
  const help = support !== undefined && supportLink(support, words);
  if (!signUp && !help) return null;
  return html`<p data-part="quiet">${t.question} ${signUp}${help && (signUp ? t.orSupport(help) : t.support(help))}</p>`;
}

/**
 * Returns the methods that can complete the sign-in of this browser. Empty if there is none.
 *
 * @internal
 */
export async function methodsOf(site: Site): Promise<readonly string[]> {
  try {
    return await site.core.completion.offered();
  } catch (error) {
    if (error instanceof AuthError && error.code === 'sign_in_expired') return [];
    throw error;
  }
}

/** The field that says that the code confirms the email, so that the page of a code that is over says so too. */
const VERIFIES = 'verifies';

declare module '../values.js' {
  interface PageValues {
    'second-factor': SecondFactorValues;
  }
}
