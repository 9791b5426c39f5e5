import { html } from '../../../html.js';
import { disclosure, field, formOf, passkeyButton } from '../../controls.js';
import type { Site } from '../../site.js';
import { timeOf } from '../../texts.js';
import type { CommonValues, FormValues } from '../../values.js';
import type { Words } from '../../words/index.js';
import { currentPassword } from '../proof.js';
import { type Card, type CardView, card, SECURITY } from './card.js';

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
  /** Whether the account has a password that a removal can be confirmed with. */
  readonly hasPassword: boolean;
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
  const back = (done: string) => () => `${site.page('account/security', { done })}#passkeys`;
  return card<'passkeys'>({
    name: 'passkeys',
    does: ['enroll_second_factor'],
    forms: [
      { name: 'rename-passkey/:id', route: rename, next: back('saved') },
      {
        name: 'remove-passkey/:id',
        route: remove,
        errors: { invalid_credentials: 'password' },
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
        hasPassword: (await visit.methods).password,
        mount: site.mount,
        next: visit.returnTo ?? `${site.later('account/security', 'passkey-added', visit.auth)}#passkeys`,
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
  { passkeys, hasPassword, mount, next, signal }: PasskeysValues,
  { account }: CommonValues,
  words: Words,
): CardView {
  const t = words.security.passkeys;
  return {
    title: t.title,
    content: html`<p>${t.text}</p>${
      passkeys.length > 0 &&
      html`<ul data-part="list">${passkeys.map(
        ({ name, createdAt, lastUsedAt, backedUp, rename, remove }) =>
          html`<li data-part="item"><div><p><strong>${name}</strong>${
            backedUp && html` <span data-part="tag">${t.synced}</span>`
          }</p><p data-part="quiet">${t.added(timeOf(createdAt))} ${
            lastUsedAt === null ? t.neverUsed : t.used(timeOf(lastUsedAt))
          }</p></div>${disclosure(
            { label: html`${t.change}<span data-part="unseen"> ${name}</span>`, forms: [rename, remove] },
            html`${formOf(
              rename,
              { submit: t.rename, kind: 'secondary', about: name },
              words,
              field(
                rename,
                { name: 'name', label: words.fields.name, autocomplete: 'off', value: name },
                words,
              ),
            )}${formOf(
              remove,
              { submit: t.remove, kind: 'danger', about: name },
              words,
              hasPassword && currentPassword(remove, account, words.passwordIfNotRecent, words),
            )}`,
          )}</li>`,
      )}</ul>`
    }<div data-part="stack">${passkeyButton(
      mount,
      {
        kind: 'create',
        options: 'post /passkeys/options',
        send: 'post /passkeys',
        next,
        more: html` data-codes="passkey-codes" data-signal="${JSON.stringify(signal)}"`,
      },
      t.add,
    )}</div><p data-no-passkeys data-part="quiet">${t.needsScript}</p><div id="passkey-codes" hidden data-part="once"><h3 tabindex="-1">${words.security.secondFactor.codes}</h3><p>${words.security.secondFactor.codesText}</p><pre data-part="secret"></pre><p><a href="${next}" data-part="button">${words.security.secondFactor.saved}</a></p></div>`,
  };
}

declare module '../../values.js' {
  interface CardValues {
    passkeys: PasskeysValues;
  }
}
