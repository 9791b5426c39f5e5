import { html } from '../../../html.js';
import type { Words } from '../../../words/pages/index.js';
import { formOf, hidden, question } from '../../controls.js';
import { foundIn } from '../../routes.js';
import { allOf, type Site } from '../../site.js';
import type { CommonValues, FormValues } from '../../values.js';
import { type Card, type CardView, card, SECURITY } from './card.js';
import { ENROLMENT } from './enrolment.js';

/** The values of the card `second-factor`. */
export interface SecondFactorCardValues {
  /** Whether the account has an authenticator app. */
  readonly totp: boolean;
  /** Whether sign-ins ask for a passkey. */
  readonly passkeys: boolean;
  readonly recoveryCodesLeft: number;
  /** Whether the account must have two-factor authentication. */
  readonly required: boolean;
  /** The form that sets up an authenticator app. Null if the email of the account must be confirmed first. */
  readonly start: FormValues | null;
  readonly renew: FormValues | null;
  readonly disable: FormValues | null;
  /** The form that turns passkeys as a second factor on or off. Null if the account has no passkey. */
  readonly usePasskeys: FormValues | null;
  /** The number of browsers that stand in for the second factor. */
  readonly trusted: number;
  /** The form after which all of these browsers ask for the second factor again. Null if there are none. */
  readonly askAgain: FormValues | null;
}

/** The field that says that the account has no other second factor than its authenticator app. */
const LAST = 'last';

/** @internal */
export function secondFactorCard(site: Site): Card | null {
  const status = site.route('get /two-factor');
  const begin = site.route('post /two-factor/totp');
  const [renew, disable] = [
    site.route('post /two-factor/recovery-codes'),
    site.route('delete /two-factor/totp'),
  ];
  const usePasskeys = site.route('put /two-factor/passkeys');
  const askAgain = site.route('delete /two-factor/trusted-devices');
  if (!status || !begin || !renew || !disable) return null;
  return card<'second-factor'>({
    name: 'second-factor',
    does: ['enroll_second_factor'],
    forms: [
      {
        name: 'set-up-app',
        route: begin,
        next: ({ returnTo }) => site.page(ENROLMENT, { returnTo }),
      },
      {
        name: 'renew-codes',
        route: renew,
        next: () => site.page(ENROLMENT, { done: 'codes-renewed' }),
        showOnce: (reply) => foundIn(renew, reply).recovery_codes,
      },
      {
        name: 'disable-app',
        route: disable,
        ownFields: [LAST],
        next: ({ fields }) =>
          site.page('account/security', { done: fields.has(LAST) ? 'second-factor-off' : 'app-removed' }),
      },
      ...(askAgain
        ? [
            {
              name: 'ask-again',
              route: askAgain,
              next: () => site.page('account/security', { done: 'browsers-not-trusted' }),
            },
          ]
        : []),
      ...(usePasskeys
        ? [
            {
              name: 'use-passkeys',
              route: usePasskeys,
              next: ({ reply, fields }: Parameters<Card['forms'][number]['next']>[0]) =>
                site.page(foundIn(usePasskeys, reply).recovery_codes ? ENROLMENT : 'account/security', {
                  done: fields.get('on') === 'true' ? 'second-factor-on' : 'passkeys-off',
                }),
              showOnce: (reply: Parameters<typeof foundIn>[1]) => foundIn(usePasskeys, reply).recovery_codes,
            },
          ]
        : []),
    ],
    async values(visit) {
      const [found, methods] = await allOf([site.read(status, visit), visit.methods]);
      const form = (name: string) => site.form(visit, SECURITY, name);
      const isOn = found.totp || found.passkeys;
      // The trust counts only for the password.
      const trusted = methods.password ? (found.trusted_devices ?? 0) : 0;
      return {
        totp: found.totp,
        passkeys: found.passkeys,
        recoveryCodesLeft: found.recovery_codes_left,
        required: found.required,
        start: visit.isUnconfirmed ? null : form('set-up-app'),
        renew: isOn ? form('renew-codes') : null,
        disable: found.totp ? form('disable-app') : null,
        usePasskeys: usePasskeys && methods.passkeys > 0 ? form('use-passkeys') : null,
        trusted,
        askAgain: askAgain && trusted > 0 ? form('ask-again') : null,
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
  const { totp, passkeys, recoveryCodesLeft, required } = values;
  const { start, renew, disable, usePasskeys, trusted, askAgain } = values;
  const t = words.security.secondFactor;
  const isOn = totp || passkeys;
  return {
    title: t.title,
    state: isOn
      ? html`<span data-part="tag" data-state="good">${words.user.on}</span> ${[
          t.on(totp, passkeys || usePasskeys !== null),
          trusted > 0 ? t.trusted(trusted) : '',
          t.codesLeft(recoveryCodesLeft),
        ]
          .filter((one) => one !== '')
          .join(' ')}`
      : required
        ? t.demanded
        : html`<span data-part="tag">${words.user.off}</span> ${t.off}`,
    opens: isOn ? words.security.manage : null,
    content: html`${start === null && !isOn && html`<p>${words.security.confirmEmail.first}</p>`}${
      (start ?? usePasskeys ?? renew) !== null &&
      html`<div data-part="stack">${
        start &&
        formOf(
          start,
          { submit: totp ? t.replace : t.begin, kind: isOn ? 'secondary' : 'primary', returnTo },
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
      }${
        renew &&
        question(
          { label: t.renew, text: t.renewText, submit: t.confirmRenew, form: renew, kind: 'secondary' },
          words,
        )
      }${askAgain && formOf(askAgain, { submit: t.askAgain, kind: 'secondary' }, words)}</div>`
    }${
      disable &&
      !required &&
      question(
        {
          label: t.disable,
          text: passkeys ? t.disableText : t.disableLastText,
          submit: t.confirmDisable,
          form: disable,
          inputs: !passkeys && hidden(LAST, 'true'),
        },
        words,
      )
    }`,
  };
}

declare module '../../values.js' {
  interface CardValues {
    'second-factor': SecondFactorCardValues;
  }
}
