import { html } from '../../html.js';
import { isPending } from '../../sessions/signed-in.js';
import type { Words } from '../../words/pages/index.js';
import { CODES } from '../codes.js';
import { AGAIN, formOf, hidden, labelOf, sentOf, sentText } from '../controls.js';
import { type OwnField, ownFields, ownInputs } from '../own-fields.js';
import { Leave, type Page, page, type View, type Visit } from '../page.js';
import type { Site } from '../site.js';
import type { CommonValues, ErrorValues, FormValues } from '../values.js';
import { codeAgainForm, codeOverView, emailedCodeField, sendForm } from './emailed-code.js';
import { OTHER } from './sign-in.js';
import { isCompletedElsewhere, signedInView } from './signed-in.js';
import { requireEmail } from './typed-email.js';

/** The values of the page `sign-in/email`. */
export interface EmailedSignInValues {
  readonly form: FormValues;
  /** Whether the sign-in was completed in another tab. */
  readonly isCompleted: boolean;
  /** The form that emails another code. */
  readonly send: FormValues;
  /** The token of the link in the email. Null if the page was opened without one. */
  readonly token: string | null;
  /** The address that the link was sent to. Null without a valid link. */
  readonly of: string | null;
  /** Whether the email was asked for in another browser, so that the link does not work here. */
  readonly isElsewhere: boolean;
  /** Whether the code no longer works, so that the page offers only another one. */
  readonly isOver: boolean;
  /** The address that this browser has asked to email a code to. Null if it is not known. */
  readonly sentTo: string | null;
  /** Whether this browser has asked for a code. */
  readonly isAsked: boolean;
  /** Whether the session stays when the browser is closed. */
  readonly isRemembered: boolean;
  /** The time for which a code is valid, in seconds. */
  readonly lifetime: number;
  /** The code that was right, if a new account needs the app's own fields. It is sent along with them. Null otherwise. */
  readonly code: string | null;
  /** The app's own fields, if a new account needs them. Empty otherwise. */
  readonly fields: readonly OwnField[];
  /** What was typed at the sign-up in the app's own fields, by their names. It is sent along with the code. */
  readonly typed: Readonly<Record<string, string>>;
  /** The names of the fields of the sign-up that cannot be sent along, such as `username`. */
  readonly lostFields: readonly string[];
  /** The page where users ask for a code for another address. */
  readonly again: string;
  /** Whether an email without an account gets a code too, to create one. */
  readonly createsAccounts: boolean;
  /** The page that the user returns to. */
  readonly next: string;
}

/** @internal */
export function emailedSignIn(site: Site): Page | null {
  const path = '/sign-in/email';
  const [route, send] = [site.route('post /signin/email/confirm'), site.route('post /signin/email')];
  const { emailedSignIns, pendings } = site.core;
  if (!route || !send || !emailedSignIns) return null;
  return page<EmailedSignInValues>({
    name: 'sign-in/email',
    path,
    kind: 'entrance',
    access: 'anyone',
    keepsReturnTo: true,
    forms: [
      {
        name: 'confirm',
        route,
        errors: { invalid_code: 'code', sign_in_expired: { steps: [] } },
        remembers: 'email',
        sendsAlong: ['code'],
        ownFields: [ASKED],
        next({ req, reply, fields, returnTo }) {
          const next = returnTo ?? site.home;
          const isNew = reply.issue && !isPending(reply.issue) && reply.issue.accountCreated;
          // A user who has signed up, was asked for the fields of a new account, or joins an organization, knows it.
          const wants =
            fields.has(ASKED) ||
            site.notes.of(req, site.page('sign-in/email')).from === 'sign-up' ||
            site.pageAt(next)?.name === 'join';
          return isNew && !wants ? site.accountCreated(next) : next;
        },
      },
      {
        name: 'send-code',
        route: send,
        emails: 'email',
        keepsReturnTo: true,
        check: requireEmail,
        ownFields: [AGAIN],
        next: ({ returnTo, fields }) => site.page('sign-in/email', { done: sentOf(fields), returnTo }),
      },
    ],
    async values(visit) {
      const { auth, refused, token, returnTo, sentTo, isRemembered, from } = visit;
      // The user has signed in already, and reloads the page.
      if (auth && token === null && !refused && !site.isWaiting(visit))
        return new Leave(returnTo ?? site.home);
      const isCompleted = isCompletedElsewhere(visit);
      const request = token === null ? null : await emailedSignIns.ofLink(token);
      const form = site.form(visit, { path }, 'confirm');
      const { typed, lostFields } = carried(site, { ...visit.typed, ...form.typed });
      // A code that is missing or wrong itself is not among the fields.
      const proof = refused?.token || refused?.fields.get('code');
      const needsFields =
        refused?.error.code === 'validation_failed' && refused.form === 'confirm' && Boolean(proof);
      return {
        form,
        isCompleted,
        ...(isCompleted && { error: null }),
        code: needsFields ? (refused.fields.get('code') ?? null) : null,
        ...(needsFields && !refused.fields.has(ASKED) && firstOf(form, refused.explained)),
        send: site.form(visit, { path }, 'send-code'),
        token,
        of: request?.email ?? null,
        isElsewhere: request !== null && !pendings.isPresented(request.browserHash),
        isOver:
          refused?.error.code === 'sign_in_expired' ||
          (sentTo !== null && (await emailedSignIns.isOverIn(pendings.tokens))),
        sentTo,
        isAsked: sentTo !== null || site.isWaiting(visit),
        isRemembered,
        lifetime: emailedSignIns.lifetime,
        fields: needsFields ? ownFields(site) : [],
        typed: needsFields ? {} : typed,
        // The page asks for the others.
        lostFields: needsFields ? lostFields.filter((name) => name === 'username') : lostFields,
        again:
          from === 'sign-up' && site.canSignUp
            ? site.page('sign-up', { returnTo })
            : site.page('sign-in', { returnTo, query: sentTo === null ? {} : { [OTHER]: 'true' } }),
        // The page of an invitation offers a code only if it creates the account.
        createsAccounts: site.emailSignsUp || from === 'join',
        next: returnTo ?? site.home,
      };
    },
    view: emailedSignInView,
  });
}

/** Returns the form and the error before the fields have been shown: only what was typed already can be wrong. */
function firstOf(form: FormValues, error: ErrorValues): Pick<EmailedSignInValues, 'form'> & FirstError {
  const typed = Object.entries(form.errors).filter(([name]) => form.typed[name]);
  const errors = Object.fromEntries(typed);
  if (typed.length === 0) return { form: { ...form, errors, refusal: null, hasNoFocus: false }, error: null };
  const told = { ...error, fields: errors };
  // One error stands beside its field. Several stand together above the form.
  return { form: { ...form, errors, refusal: typed.length === 1 ? told : null }, error: told };
}

type FirstError = Pick<CommonValues, 'error'>;

/** Returns what a confirmation can contain of the fields of a sign-up, and the names of the others. */
function carried(site: Site, typed: Visit['typed']): Pick<EmailedSignInValues, 'typed' | 'lostFields'> {
  const own = ownFields(site).map(({ name }) => name);
  const texts = own.flatMap((name): [string, string][] => {
    const text = typed[name];
    return text ? [[name, text]] : [];
  });
  const lostFields = ['username', ...own].filter(
    (name) => name in typed && !texts.some(([carriedName]) => carriedName === name),
  );
  return { typed: Object.fromEntries(texts), lostFields };
}

function emailedSignInView(values: EmailedSignInValues & CommonValues, words: Words): View {
  const {
    form,
    send,
    token,
    of,
    isElsewhere,
    sentTo,
    isRemembered,
    lifetime,
    code,
    fields,
    typed,
    lostFields,
  } = values;
  const { again, next, account, returnTo, isOver, isAsked, error, createsAccounts } = values;
  const t = words.emailedSignIn;
  if (values.isCompleted) return signedInView(values, words);
  const more = isRemembered && hidden('remember_me', 'true');
  const sendTo = (email: string, submit: string) =>
    sendForm(send, { email, submit, kind: 'primary', returnTo, more }, words);
  if (token !== null && of === null)
    return {
      title: t.usedTitle,
      main: html`<p>${account === null ? t.used : t.usedHere(account)} ${words.wholeLink}</p><p>${
        account === null
          ? html`<a href="${again}" data-part="button">${words.signIn.title}</a>`
          : html`<a href="${next}" data-part="button">${words.continue}</a>`
      }</p>`,
    };
  if (of !== null && isElsewhere)
    return {
      title: t.elsewhereTitle,
      main: html`<p>${t.elsewhere}</p><p>${t.here(html`<strong>${of}</strong>`)}</p>${sendTo(of, t.hereSubmit)}<p data-part="quiet">${t.notYou}</p>`,
    };
  const own = Object.entries(typed).map(([name, text]) => hidden(name, text));
  const lost =
    lostFields.length > 0 &&
    html`<p>${t.lostFields(lostFields.map((name) => words.ofApp(labelOf(name))))}</p>`;
  const email = of ?? sentTo;
  if (fields.length > 0 && (token ?? code) !== null)
    return {
      title: t.createTitle,
      main: html`<p>${t.fields(email === null ? t.thisEmail : html`<strong>${email}</strong>`)}</p>${formOf(
        form,
        { submit: words.signUp.submit, returnTo },
        words,
        html`${hidden('token', token)}${hidden('code', code)}${hidden(ASKED, 'true')}${ownInputs(form, fields, words, true)}`,
      )}${lost}`,
    };
  if (of !== null)
    return {
      title: t.linkTitle,
      main: html`<p>${t.linkLead(of)}</p>${formOf(
        form,
        { submit: t.linkSubmit, returnTo },
        words,
        html`${hidden('token', token)}${own}`,
      )}${lost}<p><a href="${again}">${t.other}</a></p>`,
    };
  if (isOver)
    return codeOverView(
      { title: t.title, error, another: sentTo === null ? null : sendTo(sentTo, t.again), again },
      words,
    );
  return {
    title: t.title,
    saysDone: true,
    main: html`${sentText(
      sentTo === null
        ? isAsked
          ? t.lead
          : t.notAsked
        : t.sentTo(
            html`<strong>${sentTo}</strong>`,
            CODES.emailed.length,
            words.formats.duration(lifetime),
            createsAccounts,
          ),
      { email: sentTo, isCertain: createsAccounts },
      values,
      words,
    )}${formOf(
      form,
      { submit: t.submit, returnTo },
      words,
      html`${emailedCodeField(form, words)}${own}`,
    )}${lost}${sentTo !== null && codeAgainForm(send, { email: sentTo, returnTo, more }, words)}<p><a href="${again}">${
      sentTo !== null ? t.other : isAsked ? t.again : words.signIn.byEmail
    }</a></p>`,
  };
}

/** The field that says that the fields of a new account were shown. */
const ASKED = 'asked';

declare module '../values.js' {
  interface PageValues {
    'sign-in/email': EmailedSignInValues;
  }
}
