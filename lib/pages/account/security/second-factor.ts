import { type Html, html, unsafeHtml } from '../../../html.js';
import type { Reply } from '../../../http/route.js';
import { disclosure, field, formOf, hidden } from '../../controls.js';
import type { Visit } from '../../page.js';
import { foundIn } from '../../routes.js';
import { allOf, type Site } from '../../site.js';
import type { CommonValues, FormValues } from '../../values.js';
import type { Words } from '../../words/index.js';
import { type Card, type CardView, card, SECURITY } from './card.js';

/** The values of the card `second-factor`. */
export interface SecondFactorCardValues {
  /** Whether the account has an authenticator app. */
  readonly totp: boolean;
  /** Whether sign-ins ask for a passkey. */
  readonly passkeys: boolean;
  readonly recoveryCodesLeft: number;
  /** Whether the account must have a second factor. */
  readonly required: boolean;
  /** The authenticator app that the user has to confirm. Null if there is none. */
  readonly setUp: {
    /** The secret in base32, in groups. */
    readonly secret: string;
    /** The link that opens an authenticator app on the same device. */
    readonly otpauthUrl: string;
    /** The QR code, as SVG. */
    readonly qrSvg: string;
  } | null;
  /** The recovery codes that were just created. They are shown once. Null otherwise. */
  readonly recoveryCodes: readonly string[] | null;
  /** The form that sets up an authenticator app. */
  readonly start: FormValues;
  readonly confirm: FormValues;
  readonly renew: FormValues | null;
  readonly disable: FormValues | null;
  /** The form that turns passkeys as a second factor on or off. Null if the account has no passkey. */
  readonly usePasskeys: FormValues | null;
  /** Where the user continues after saving the recovery codes. */
  readonly next: string;
}

const ANCHOR = '#second-factor';

/** @internal */
export function secondFactorCard(site: Site): Card | null {
  const status = site.route('get /two-factor');
  const [begin, confirm] = [site.route('post /two-factor/totp'), site.route('post /two-factor/totp/confirm')];
  const [renew, disable] = [
    site.route('post /two-factor/recovery-codes'),
    site.route('delete /two-factor/totp'),
  ];
  const usePasskeys = site.route('put /two-factor/passkeys');
  if (!status || !begin || !confirm || !renew || !disable) return null;
  const back = (done: string | undefined) => site.page('account/security', { done }) + ANCHOR;
  return card<'second-factor'>({
    name: 'second-factor',
    does: ['enroll_second_factor'],
    forms: [
      {
        name: 'set-up-app',
        route: begin,
        next: ({ returnTo }) => site.page('account/security', { returnTo }) + ANCHOR,
      },
      {
        name: 'confirm-app',
        route: confirm,
        errors: { invalid_code: 'code' },
        next: ({ returnTo }) =>
          site.page('account/security', { done: 'second-factor-on', returnTo }) + ANCHOR,
        showOnce: (reply) => foundIn(confirm, reply).recovery_codes,
      },
      {
        name: 'renew-codes',
        route: renew,
        next: () => back('codes-renewed'),
        showOnce: (reply) => foundIn(renew, reply).recovery_codes,
      },
      { name: 'disable-app', route: disable, next: () => back('second-factor-off') },
      ...(usePasskeys
        ? [
            {
              name: 'use-passkeys',
              route: usePasskeys,
              next: () => back('saved'),
              showOnce: (reply: Reply) => foundIn(usePasskeys, reply).recovery_codes,
            },
          ]
        : []),
    ],
    async values(visit) {
      const [found, setUp, methods] = await allOf([
        site.read(status, visit),
        unconfirmed(site, visit),
        visit.methods,
      ]);
      const form = (name: string) => site.form(visit, SECURITY, name);
      const isOn = found.totp || found.passkeys;
      const codes = visit.shownOnce;
      return {
        totp: found.totp,
        passkeys: found.passkeys,
        recoveryCodesLeft: found.recovery_codes_left,
        required: found.required,
        setUp: setUp && {
          secret: setUp.secret.replace(/(.{4})(?=.)/g, '$1 '),
          otpauthUrl: setUp.otpauthUrl,
          qrSvg: setUp.qrSvg,
        },
        recoveryCodes: Array.isArray(codes) ? (codes as string[]) : null,
        start: form('set-up-app'),
        confirm: form('confirm-app'),
        renew: isOn ? form('renew-codes') : null,
        disable: found.totp ? form('disable-app') : null,
        usePasskeys: usePasskeys && methods.passkeys > 0 ? form('use-passkeys') : null,
        next: visit.returnTo ?? back(undefined),
      };
    },
  });
}

/** @internal */
export function secondFactorView(
  values: SecondFactorCardValues,
  { returnTo }: CommonValues,
  words: Words,
): CardView {
  const { totp, passkeys, recoveryCodesLeft, required, setUp, recoveryCodes } = values;
  const { start, confirm, renew, disable, usePasskeys, next } = values;
  const t = words.security.secondFactor;
  const isOn = totp || passkeys;
  return {
    title: t.title,
    content: html`${recoveryCodes && codesSection(recoveryCodes, next, words)}<p>${isOn ? t.on(totp, passkeys) : required ? t.demanded : t.off}</p>${
      isOn && html`<p>${t.codesLeft(recoveryCodesLeft)}</p>`
    }${
      setUp
        ? html`<h3>${t.setUp}</h3><p>${t.scan}</p><div data-part="qr">${unsafeHtml(setUp.qrSvg.replace('<svg ', `<svg role="img" aria-label="${t.qr}" `))}</div><p><a href="${setUp.otpauthUrl}">${t.open}</a></p><p>${t.manual}</p><code data-part="secret">${setUp.secret}</code>${formOf(
            confirm,
            { submit: t.confirm, returnTo },
            words,
            field(
              confirm,
              {
                name: 'code',
                label: words.fields.code,
                hint: t.codeHint,
                autocomplete: 'one-time-code',
                inputmode: 'numeric',
                isCode: true,
              },
              words,
            ),
          )}${formOf(start, { submit: t.again, kind: 'link', returnTo }, words)}`
        : formOf(
            start,
            {
              submit: totp ? t.replace : t.begin,
              kind: totp ? 'secondary' : 'primary',
              returnTo,
            },
            words,
          )
    }${
      usePasskeys &&
      formOf(
        usePasskeys,
        { submit: passkeys ? t.passkeysOff : t.passkeysOn, kind: 'secondary' },
        words,
        hidden('on', String(!passkeys)),
      )
    }${renew && formOf(renew, { submit: t.renew, kind: 'secondary' }, words)}${
      disable &&
      !required &&
      disclosure(
        { label: t.disable, forms: [disable] },
        html`<p>${t.disableText}</p>${formOf(disable, { submit: t.disable, kind: 'danger' }, words)}`,
      )
    }`,
  };
}

function codesSection(codes: readonly string[], next: string, words: Words): Html {
  const t = words.security.secondFactor;
  return html`<div data-part="once" role="alert" tabindex="-1" autofocus>
<h3>${t.codes}</h3>
<p>${t.codesText}</p>
<pre data-part="secret" id="recovery-codes">${codes.join('\n')}</pre>
<button type="button" hidden data-part="button secondary" data-copy="recovery-codes" data-copied="${words.copied}">${words.copy}</button>
<p><a href="${next}" data-part="button">${t.saved}</a></p>
</div>`;
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
  interface CardValues {
    'second-factor': SecondFactorCardValues;
  }
}
