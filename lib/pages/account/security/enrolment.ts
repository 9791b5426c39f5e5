import { digestToken } from '../../../crypto/token.js';
import { html, unsafeHtml } from '../../../html.js';
import type { Words } from '../../../words/pages/index.js';
import { CODES } from '../../codes.js';
import { field, formOf, hidden } from '../../controls.js';
import { Leave, type Page, page, type View, type Visit } from '../../page.js';
import { foundIn } from '../../routes.js';
import type { Site } from '../../site.js';
import type { CommonValues, FormValues } from '../../values.js';
import { SECURITY } from './card.js';
import { recoveryCodes } from './recovery-codes.js';

/** The values of the page `account/security/second-factor`: an authenticator app to confirm, or recovery codes. */
export interface EnrolmentValues {
  /** The authenticator app that the user has to confirm. Null if the page shows recovery codes. */
  readonly setUp: {
    /** The secret in base32, in groups. */
    readonly secret: string;
    /** The link that opens an authenticator app on the same device. */
    readonly otpauthUrl: string;
    /** The QR code, as SVG. */
    readonly qrSvg: string;
    /** Identifies the secret. The form sends it as `set_up`, so that the page knows whether the code is of this secret. */
    readonly id: string;
  } | null;
  /** Whether the rejected code is of a secret that this one has replaced, because the user started again in another tab. */
  readonly isReplaced: boolean;
  /** The recovery codes that were just created. They are shown once. Null while an app is set up. */
  readonly recoveryCodes: readonly string[] | null;
  readonly confirm: FormValues;
  /** The form that starts again, with another secret. */
  readonly start: FormValues;
  /** Where the user continues after saving the recovery codes. */
  readonly next: string;
  /** The page that the user goes back to without an authenticator app. */
  readonly cancel: string;
}

/**
 * The name of the page that sets up an authenticator app, and shows recovery codes.
 *
 * @internal
 */
export const ENROLMENT = 'account/security/second-factor';

/** The field that identifies the secret which the page has shown. */
const SET_UP = 'set_up';

/** @internal */
export function enrolment(site: Site): Page | null {
  const confirm = site.route('post /two-factor/totp/confirm');
  if (!confirm) return null;
  return page<EnrolmentValues>({
    name: ENROLMENT,
    path: '/account/security/second-factor',
    kind: 'account',
    access: 'session',
    openTo: 'any-task',
    forms: [
      {
        name: 'confirm-app',
        below: SECURITY.path,
        route: confirm,
        errors: { invalid_code: 'code' },
        ownFields: [SET_UP],
        next: ({ returnTo }) => site.page(ENROLMENT, { done: 'second-factor-on', returnTo }),
        showOnce: (reply) => foundIn(confirm, reply).recovery_codes,
      },
    ],
    async values(visit) {
      const codes = Array.isArray(visit.shownOnce) ? (visit.shownOnce as string[]) : null;
      const setUp = codes ? null : await unconfirmed(site, visit);
      if (!codes && !setUp) return new Leave(backOf(site, visit));
      const security = site.page('account/security');
      const id = setUp && digestToken(setUp.secret).toString('hex').slice(0, 16);
      const sent = visit.refused?.error.code === 'invalid_code' && visit.refused.fields.get(SET_UP);
      return {
        isReplaced: Boolean(sent) && sent !== id,
        setUp: setUp && {
          id: id ?? '',
          secret: setUp.secret.replace(/(.{4})(?=.)/g, '$1 '),
          otpauthUrl: setUp.otpauthUrl,
          qrSvg: setUp.qrSvg,
        },
        recoveryCodes: codes,
        confirm: site.form(visit, SECURITY, 'confirm-app'),
        start: site.form(visit, SECURITY, 'set-up-app'),
        next: visit.returnTo ?? security,
        cancel: security,
      };
    },
    view: enrolmentView,
  });
}

function enrolmentView(values: EnrolmentValues & CommonValues, words: Words): View {
  const { setUp, recoveryCodes: codes, start, next, cancel, returnTo, appName, account, isReplaced } = values;
  const t = words.security.secondFactor;
  const confirm = isReplaced ? { ...values.confirm, errors: { code: t.replaced } } : values.confirm;
  if (!setUp)
    return {
      title: t.codes,
      main: html`<section data-part="card"><div data-part="once">${recoveryCodes(
        { id: 'recovery-codes', codes: codes ?? [], appName, account, next },
        words,
      )}</div></section>`,
    };
  const qr = setUp.qrSvg.replace('<svg ', `<svg role="img" aria-label="${t.qr}" `);
  return {
    title: t.setUp,
    main: html`<section data-part="card"><ol data-part="steps">
<li><h2>${t.scanTitle}</h2><div data-part="scan"><p>${t.scan}</p><div data-part="qr">${unsafeHtml(qr)}</div><p data-part="open"><a href="${setUp.otpauthUrl}">${t.open}</a></p></div><p>${t.manual}</p><code data-part="secret" id="app-key">${
      // The groups are apart, but not by spaces, which not every app ignores.
      setUp.secret.split(' ').map((group) => html`<span>${group}</span>`)
    }</code><button type="button" hidden data-part="button secondary" data-copy="app-key" data-copied="${words.copied}">${words.copy}</button></li>
<li><h2>${t.enterTitle}</h2>${formOf(
      confirm,
      { submit: t.confirm, returnTo },
      words,
      html`${hidden(SET_UP, setUp.id)}${field(
        confirm,
        {
          name: 'code',
          label: t.codeLabel,
          hint: t.codeHint,
          autocomplete: 'one-time-code',
          code: CODES.totp,
        },
        words,
      )}`,
    )}</li>
<li><h2>${t.codes}</h2><p>${t.codesNext}</p></li>
</ol>
${formOf(start, { submit: t.again, kind: 'link', returnTo }, words)}
<p><a href="${cancel}">${t.cancel}</a></p></section>`,
  };
}

/** Returns the page to go back to if there is nothing to confirm, and why it is not there if the user has sent a code. */
function backOf(site: Site, { res, refused, returnTo }: Visit): string {
  if (!refused) return site.page('account/security', { returnTo });
  const done = 'set-up-expired';
  const to = site.page('account/security', { done, returnTo });
  site.notes.leave(res, to, { done });
  return to;
}

/** Returns the authenticator app that the session has to confirm. */
async function unconfirmed(site: Site, { auth }: Visit) {
  if (!auth) return null;
  for (const { forPages } of site.core.contributions) {
    const found = await forPages?.unconfirmed?.(auth.user, auth.session.id);
    if (found) return found;
  }
  return null;
}

declare module '../../values.js' {
  interface PageValues {
    'account/security/second-factor': EnrolmentValues;
  }
}
