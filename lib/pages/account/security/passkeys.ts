import { html } from '../../../html.js';
import type { Words } from '../../../words/pages/index.js';
import { disclosure, field, formOf, passkeyButton, question } from '../../controls.js';
import type { Site } from '../../site.js';
import { timeOf } from '../../texts.js';
import type { CommonValues, FormValues } from '../../values.js';
import { type Card, type CardView, card, SECURITY } from './card.js';
import { recoveryCodes } from './recovery-codes.js';

/** A passkey. */
export interface PasskeyValues {
  readonly id: string;
  readonly name: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. Null if it was never used. */
  readonly lastUsedAt: string | null;
  /** Whether there is a copy of it elsewhere. */
  readonly backedUp: boolean;
  readonly rename: FormValues;
  readonly remove: FormValues;
}

/** The values of the card `passkeys`. */
export interface PasskeysValues {
  readonly passkeys: readonly PasskeyValues[];
  /** Whether the account can add one. Otherwise, its email must be confirmed first. */
  readonly canAdd: boolean;
  /** The page where users confirm who they are before they add a passkey. Null if they signed in recently. */
  readonly reauthenticate: string | null;
  readonly mount: string;
  /** Where the browser goes after a passkey was added. */
  readonly next: string;
  /** The passkeys that the browser should keep, which the script of the page passes to it. */
  readonly signal: SignalValues;
}

/** The argument of `PublicKeyCredential.signalAllAcceptedCredentials()`. */
export interface SignalValues {
  readonly rpId: string;
  readonly userId: string;
  readonly allAcceptedCredentialIds: readonly string[];
}

/** @internal */
export function passkeysCard(site: Site): Card | null {
  const list = site.route('get /passkeys');
  const [rename, remove] = [site.route('patch /passkeys/:id'), site.route('delete /passkeys/:id')];
  if (!list || !rename || !remove) return null;
  const back = (done: string) => () => site.page('account/security', { done });
  return card<'passkeys'>({
    name: 'passkeys',
    does: ['enroll_second_factor'],
    forms: [
      { name: 'rename-passkey/:id', route: rename, next: back('saved') },
      {
        name: 'remove-passkey/:id',
        route: remove,
        next: back('passkey-removed'),
      },
    ],
    async values(visit) {
      const { passkeys, signal } = await site.read(list, visit);
      return {
        passkeys: passkeys.map((one) => ({
          id: one.id,
          name: one.name,
          createdAt: one.created_at,
          lastUsedAt: one.last_used_at,
          backedUp: one.backed_up,
          rename: site.form(visit, SECURITY, 'rename-passkey/:id', { id: one.id }),
          remove: site.form(visit, SECURITY, 'remove-passkey/:id', { id: one.id }),
        })),
        canAdd: !visit.isUnconfirmed,
        reauthenticate: visit.confirmFirst('passkeys'),
        mount: site.mount,
        next: visit.returnTo ?? site.later('account/security', 'passkey-added', visit.auth),
        signal: {
          rpId: signal.rp_id,
          userId: signal.user_id,
          allAcceptedCredentialIds: signal.accepted,
        },
      };
    },
  });
}

/** @internal */
export function passkeysView(
  { passkeys, canAdd, reauthenticate, mount, next, signal }: PasskeysValues,
  { account, appName }: CommonValues,
  words: Words,
): CardView {
  const t = words.security.passkeys;
  return {
    title: t.title,
    state: passkeys.length === 0 ? t.text : t.count(passkeys.length),
    opens: passkeys.length === 0 ? null : words.security.manage,
    content: html`<span hidden data-signal="${JSON.stringify(signal)}"></span>${
      passkeys.length > 0 &&
      html`<ul data-part="list">${passkeys.map(
        ({ name, createdAt, lastUsedAt, backedUp, rename, remove }) =>
          html`<li data-part="item"><div><p><strong>${name}</strong>${
            backedUp && html` <span data-part="tag">${t.synced}</span>`
          }</p><p data-part="quiet">${t.added(timeOf(createdAt, words))} ${
            lastUsedAt === null ? t.neverUsed : t.used(timeOf(lastUsedAt, words))
          }</p></div>${disclosure(
            {
              label: t.change,
              about: name,
              forms: [rename, remove],
            },
            html`${formOf(
              rename,
              { submit: t.rename, kind: 'secondary', about: name },
              words,
              field(
                rename,
                { name: 'name', label: words.fields.name, autocomplete: 'off', value: name },
                words,
              ),
            )}${question(
              { label: t.remove, about: name, text: t.removeText, submit: t.confirmRemove, form: remove },
              words,
            )}`,
            words,
          )}</li>`,
      )}</ul>`
    }${
      !canAdd
        ? html`<p>${words.security.confirmEmail.first}</p>`
        : reauthenticate !== null
          ? html`<p><a href="${reauthenticate}" data-part="button secondary">${t.add}</a></p>`
          : html`<div id="passkey-codes" hidden data-part="once"><h3 tabindex="-1">${words.security.secondFactor.codes}</h3>${recoveryCodes(
              { id: 'passkey-recovery-codes', codes: [], appName, account, next },
              words,
            )}</div><div data-part="stack"><p data-no-passkeys data-part="quiet">${t.needsScript}</p>${passkeyButton(
              mount,
              {
                kind: 'create',
                options: 'post /passkeys/options',
                send: 'post /passkeys',
                next,
                more: html` data-codes="passkey-codes"`,
              },
              t.add,
            )}</div>`
    }`,
  };
}

declare module '../../values.js' {
  interface CardValues {
    passkeys: PasskeysValues;
  }
}
