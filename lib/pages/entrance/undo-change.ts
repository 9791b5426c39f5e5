import { hadPassword } from '../../accounts/undo.js';
import {
  examineUndo,
  findUndo,
  type UndoBrowsers,
  type UndoCase,
  undoBrowsers,
} from '../../accounts/undo-proof.js';
import { readCode } from '../../crypto/typed-codes.js';
import { AuthError } from '../../errors.js';
import { type Html, type HtmlValue, html } from '../../html.js';
import { deviceIn } from '../../mail/messages.js';
import type { Words } from '../../words/pages/index.js';
import { CODES } from '../codes.js';
import { field, formOf, hidden, orLine, passkeyButton, supportLink } from '../controls.js';
import { CHANGE } from '../errors.js';
import { stateIcon } from '../icons.js';
import { type Page, page, type View, type Visit } from '../page.js';
import type { Site } from '../site.js';
import { changeName, maskedName, timeOf } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';

/** The values of the page `undo-change`. */
export interface UndoChangeValues {
  readonly form: FormValues;
  /** The token of the link. Null if it is no longer valid. */
  readonly token: string | null;
  /** The email or username of the account. In a browser that the account does not know, most letters of an email are hidden. */
  readonly of: string | null;
  /** The email before the change, if the link undoes a change of the email. Null otherwise. */
  readonly from: string | null;
  /** The change that the link undoes. Null without a valid link. */
  readonly change: {
    /** The kind, such as `password-changed`. */
    readonly kind: string;
    /** When the change was made. ISO 8601. */
    readonly at: string;
    /** The device in words. Null if it is not known. */
    readonly device: string | null;
    /** The proofs that the undo requires: `browser`, `password`, `second_factor`, `passkey`. */
    readonly missing: readonly string[];
  } | null;
  /** What a browser says in which the link does not work. Null elsewhere. */
  readonly elsewhere: {
    /** Since when the account has known this browser. ISO 8601. Null if it does not know it. */
    readonly since: string | null;
    /** The browsers in which the link works. Other browsers that the account gets to know later never count for it. */
    readonly browsers: readonly {
      /** Null if it has no name. */
      readonly name: string | null;
      /** Since when the account has known it. ISO 8601. Null in a browser that the account does not know. */
      readonly since: string | null;
    }[];
  } | null;
  /** The email or username that the account has after the undo. Null without a valid link. */
  readonly restored: string | null;
  /** Whether an undo removes the password, and emails a link to choose a new one. */
  readonly removesPassword: boolean;
  /** What was undone just now: a change, or the deletion of the account. Null if nothing was. */
  readonly isDone: 'change' | 'deletion' | null;
  /** The email or username of the account after the undo. Null if it is not known. */
  readonly sentTo: string | null;
  /** Where users get help. Null if the app has set nothing. */
  readonly support: string | null;
  /**
   * What the session can do for the account instead, if the link works elsewhere or not at all. Null without a session of the
   * account.
   */
  readonly instead: {
    /** Whether the account has a password, which can be changed. */
    readonly hasPassword: boolean;
    /** The page with the security of the account. */
    readonly security: string;
    /** The page with the sessions. */
    readonly sessions: string;
  } | null;
  /** The page for a forgotten password. Null if there is none, or if it cannot help a deleted account. */
  readonly forgotPassword: string | null;
  readonly signIn: string;
  /** The page that the browser opens after the undo. */
  readonly undone: string;
  readonly mount: string;
}

/** @internal */
export function undoChange(site: Site): Page | null {
  const path = '/undo-change';
  const [undo, lookUp] = [site.route('post /undo-change'), site.route('post /undo-change/lookup')];
  if (!undo || !lookUp) return null;
  return page<UndoChangeValues>({
    name: 'undo-change',
    path,
    kind: 'entrance',
    access: 'anyone',
    forms: [
      {
        name: 'confirm',
        route: undo,
        errors: {
          invalid_credentials: 'password',
          invalid_code: CODE,
          proof_required: { fieldsOfMissing: { password: 'password', second_factor: CODE } },
        },
        translate: codesOf,
        // The detail of the route does not know that an account is restored, and the words of the page do.
        restate: (error) =>
          error.code === 'invalid_credentials' ? new AuthError('invalid_credentials') : error,
        // The next page says where the link was emailed.
        ownFields: [ACCOUNT, CHANGE],
        emails: ACCOUNT,
        next: ({ reply }) =>
          site.page('undo-change', { done: doneOf((reply.body as { readonly undone: string }).undone) }),
      },
    ],
    async values(visit) {
      const token = visit.token;
      let change: UndoChangeValues['change'] = null;
      let seen: UndoCase | null = null;
      try {
        if (token !== null) {
          change = await site.read(lookUp, visit, { token });
          seen = await examineUndo(site.core, await findUndo(site.core, token));
        }
      } catch (error) {
        if (!(error instanceof AuthError) || error.code !== 'invalid_token') throw error;
      }
      const restored = seen && site.nameOf({ ...seen.record.user, email: seen.state.email });
      const done = doneOf(change?.kind);
      const undone = site.page('undo-change', { done });
      const removesPassword =
        site.route('post /passwords/reset') !== undefined &&
        (seen === null || hadPassword(seen.record, seen));
      // A passkey undoes the change by a script, so no form leaves the note.
      if (change?.missing.includes('passkey') && removesPassword)
        site.notes.leave(visit.res, undone, { done, email: restored });
      const isKnown = change?.missing.includes('browser') === false;
      return {
        form: site.form(visit, { path }, 'confirm'),
        token: change && token,
        // A former mailbox, whose link this is, must not learn the new address.
        of: seen && (isKnown ? site.nameOf(seen.record.user) : maskedName(seen.record.user)),
        from: (change?.kind === EMAIL && seen?.state.email) || null,
        change,
        elsewhere: seen && change && !isKnown ? elsewhereOf(await undoBrowsers(site.core, seen)) : null,
        restored: isKnown && removesPassword ? restored : null,
        removesPassword,
        isDone: token !== null ? null : (DONE[visit.done ?? ''] ?? null),
        sentTo: visit.sentTo,
        support: site.settings.links.support ?? null,
        instead: isKnown ? null : await insteadOf(visit, seen),
        forgotPassword: change?.kind === DELETION ? null : site.forgotPassword(null),
        signIn: site.page('sign-in'),
        undone,
        mount: site.mount,
      };
    },
    view: undoChangeView,
  });
}

function undoChangeView(values: UndoChangeValues & CommonValues, words: Words): View {
  const { form, token, of, from, change, restored, mount, signIn, undone, removesPassword, isDone } = values;
  if (isDone !== null) return doneView(values, words);
  if (token === null || change === null)
    return {
      title: words.undoChange.invalid,
      main: html`<p>${words.undoChange.invalidText} ${words.wholeLink}</p>${insteadLinks(values, words, html`<p><a href="${signIn}" data-part="button">${words.signIn.title}</a></p>`)}<p>${words.undoChange.invalidHelp(supportOf(values, words))}</p>`,
    };
  const t = { ...words.undoChange, ...(change.kind === DELETION && words.undoChange.deletion) };
  const isEmail = from !== null && of !== null;
  const facts = html`<p>${isEmail ? t.emailChanged(from, of) : t.what(changeName(change.kind, words))}</p><dl data-part="facts">${of !== null && !isEmail && html`<dt>${t.account}</dt><dd>${of}</dd>`}<dt>${t.when}</dt><dd>${timeOf(change.at, words)}</dd><dt>${t.device}</dt><dd>${change.device === null ? t.unknownDevice : deviceIn(words, change.device)}</dd></dl>`;
  const asks = (name: string) => change.missing.includes(name);
  if (asks('browser') && values.elsewhere?.browsers.length === 0)
    return {
      title: t.title,
      main: html`${facts}<h2>${t.noBrowser}</h2><p>${t.noBrowserText}</p>${insteadLinks(values, words)}<p>${t.helpWithout(supportOf(values, words))}</p>`,
    };
  if (asks('browser'))
    return {
      title: t.title,
      main: html`${facts}<h2>${t.otherBrowser}</h2>${elsewhereText(values.elsewhere, words)}<p><button type="button" hidden data-part="button secondary" data-copy data-copied="${words.copied}">${t.copyAddress}</button></p>${insteadLinks(values, words)}<p>${t.help(supportOf(values, words))}</p>`,
    };
  const byPasskeyAlone = asks('passkey') && change.missing.length === 1;
  return {
    title: t.title,
    ...(asks('passkey') && { scripts: ['passkeys.js'] }),
    main: html`${facts}<p>${t.lead}${removesPassword && ` ${t.removes}`}</p>${
      !byPasskeyAlone &&
      formOf(
        form,
        { submit: t.submit },
        words,
        html`${hidden('token', token)}${hidden(ACCOUNT, restored)}${
          change.kind === DELETION && hidden(CHANGE, DELETION)
        }${
          asks('password') &&
          field(
            form,
            {
              name: 'password',
              label: t.password,
              hint: t.passwordHint,
              type: 'password',
              autocomplete: 'current-password',
              focus: true,
            },
            words,
          )
        }${
          asks('second_factor') &&
          field(
            form,
            {
              name: CODE,
              label: t.code,
              hint: t.codeHint,
              autocomplete: 'one-time-code',
              focus: !asks('password'),
              isCode: true,
            },
            words,
          )
        }`,
      )
    }${
      asks('passkey') &&
      html`<div data-part="stack">${!byPasskeyAlone && orLine(words)}${passkeyButton(
        mount,
        {
          kind: 'undo',
          options: 'post /undo-change/options',
          send: 'post /undo-change',
          field: 'passkey',
          body: { token },
          next: undone,
          isPrimary: byPasskeyAlone,
        },
        t.withPasskey,
      )}</div>`
    }<p data-part="quiet">${t.nothing}</p>`,
  };
}

function elsewhereOf({ own, proving }: UndoBrowsers): UndoChangeValues['elsewhere'] {
  return {
    since: own?.createdAt.toISOString() ?? null,
    browsers: proving.map(({ name, createdAt }) => ({ name, since: own && createdAt.toISOString() })),
  };
}

function elsewhereText(elsewhere: UndoChangeValues['elsewhere'], words: Words): HtmlValue {
  if (elsewhere === null) return null;
  const { since, browsers } = elsewhere;
  const t = words.undoChange;
  return html`${since !== null && html`<p>${t.tooNew(timeOf(since, words))}</p>`}<p>${t.otherBrowserText}</p>${
    browsers.length > 0 &&
    html`<p>${t.worksIn}</p><ul>${browsers.map(({ name, since: known }) => {
      const named = name === null ? t.unknownDevice : deviceIn(words, name);
      return html`<li>${known === null ? named : t.knownSince(named, timeOf(known, words))}</li>`;
    })}</ul>`
  }`;
}

/**
 * Returns what the session of the browser can do for the account.
 *
 * @param seen the change of the account. Null if the link is not valid
 */
async function insteadOf(visit: Visit, seen: UndoCase | null): Promise<UndoChangeValues['instead']> {
  const { auth, site } = visit;
  if (!auth || (seen && seen.record.user.id !== auth.user.id)) return null;
  const { password } = await site.methodsOf(visit);
  return {
    hasPassword: password && site.route('post /passwords/change') !== undefined,
    security: site.page('account/security'),
    sessions: site.page('account/sessions'),
  };
}

/**
 * Creates the links to what keeps others out of the account, because the change cannot be undone here.
 *
 * @param first what comes first without a session. By default, nothing
 */
function insteadLinks(
  { instead, forgotPassword }: UndoChangeValues,
  words: Words,
  first: Html | null = null,
): HtmlValue {
  if (instead) {
    const { hasPassword, security, sessions } = instead;
    const label = hasPassword ? words.undoChange.changePassword : words.names['account/security'];
    return html`<p><a href="${security}${hasPassword && '#password'}" data-part="button">${label}</a></p><p><a href="${sessions}" data-part="button secondary">${words.names['account/sessions']}</a></p>`;
  }
  return html`${first}${
    forgotPassword !== null &&
    html`<p><a href="${forgotPassword}" data-part="button${first && ' secondary'}">${words.forgotPassword.title}</a></p>`
  }`;
}

/** What follows after an undo: the password is gone, so a sign-in with it would only fail. */
function doneView(
  { isDone, removesPassword, sentTo, signIn }: UndoChangeValues & CommonValues,
  words: Words,
): View {
  const t = { ...words.undoChange, ...(isDone === 'deletion' && words.undoChange.deletion) };
  const isMailed = removesPassword && sentTo?.includes('@') === true;
  return {
    title: t.done,
    icon: stateIcon(isMailed ? 'mail' : 'done'),
    saysDone: true,
    main: html`<p>${isMailed && html`${t.choose(html`<strong>${sentTo}</strong>`)} `}${t.ended}</p><p><a href="${signIn}"${!isMailed && html` data-part="button"`}>${
      isMailed ? words.forgotPassword.back : words.signIn.title
    }</a></p>`,
  };
}

/** Returns where users get help. A page with a token does not link to other origins, so it only names them. */
function supportOf({ support, links }: UndoChangeValues & CommonValues, words: Words): Html | string | null {
  if (support === null || links.support === undefined) return support;
  return supportLink(support, words);
}

/** The change of an email. The link goes to the former mailbox, which learns only a part of the new address. */
const EMAIL = 'email-changed';

/** The change after which the account can be restored. */
const DELETION = 'account-deleted';

const DONE: Readonly<Record<string, 'change' | 'deletion'>> = {
  'change-undone': 'change',
  'account-restored': 'deletion',
};

function doneOf(kind: string | undefined): string {
  return kind === DELETION ? 'account-restored' : 'change-undone';
}

/** The field for a code of the authenticator app, or a recovery code. */
const CODE = 'code';

/** Returns the fields of the route for what was typed as a code: only a code of an app has this form. */
function codesOf(fields: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const typed = fields.get(CODE) ?? '';
  if (typed === '' || APP_CODE.test(readCode(typed))) return {};
  return { code: '', recovery_code: typed };
}

const APP_CODE = new RegExp(`^\\d{${CODES.totp.length}}$`);

/** The field with the account whose change is undone. */
const ACCOUNT = 'account';

declare module '../values.js' {
  interface PageValues {
    'undo-change': UndoChangeValues;
  }
}
