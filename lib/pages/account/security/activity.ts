import { provesUndo } from '../../../accounts/undo-proof.js';
import { html } from '../../../html.js';
import { deviceIn } from '../../../mail/messages.js';
import type { Words } from '../../../words/pages/index.js';
import { question } from '../../controls.js';
import { deviceIcon } from '../../icons.js';
import { allOf, type Site } from '../../site.js';
import { changeName, timeOf } from '../../texts.js';
import type { CommonValues, FormValues } from '../../values.js';
import { type Card, type CardView, card, SECURITY } from './card.js';

/** A change of the account. */
export interface ChangeValues {
  readonly id: string;
  /** The kind, such as `password-changed`. */
  readonly kind: string;
  /** ISO 8601. */
  readonly at: string;
  readonly device: string | null;
  readonly ip: string | null;
  /** Whether the link in the email about it still works. */
  readonly undoable: boolean;
  /** Whether the link works in no browser, so that only support can undo the change. */
  readonly needsSupport: boolean;
}

/** The values of the card `changes`. */
export interface ChangesValues {
  /** Whether the user gets an email about each change. */
  readonly isMailed: boolean;
  readonly changes: readonly ChangeValues[];
}

/** @internal */
export function changesCard(site: Site): Card | null {
  const list = site.route('get /account-changes');
  if (!list || !site.core.notices.isOn) return null;
  return card<'changes'>({
    name: 'changes',
    forms: [],
    async values(visit) {
      const [{ changes }, proves] = await allOf([
        site.read(list, visit),
        provesUndo(site.core, visit.auth?.user.id ?? ''),
      ]);
      return {
        changes: changes.map((one) => ({
          ...one,
          needsSupport: one.undoable && !proves(new Date(one.at)),
        })),
        isMailed: site.mailsNotices(visit.auth?.user),
      };
    },
  });
}

/** @internal */
export function changesView(
  { changes, isMailed }: ChangesValues,
  _page: CommonValues,
  words: Words,
): CardView {
  const t = words.security.changes;
  return {
    title: t.title,
    state: changes.length === 0 ? t.none : t.count(changes.length),
    opens: changes.length === 0 ? null : words.security.show,
    content:
      changes.length > 0 &&
      html`<p>${t.text}${isMailed && ` ${t.mailed}`}</p><ul data-part="list">${changes.map(
        ({ kind, at, device, ip, undoable, needsSupport }) =>
          html`<li data-part="item"><div><p><strong>${changeName(kind, words)}</strong>${
            undoable && html` <span data-part="tag">${needsSupport ? t.bySupport : t.undoable}</span>`
          }</p><p data-part="quiet">${timeOf(at, words)}${[device && deviceIn(words, device), ip].map((one) => one !== null && html` · ${one}`)}</p></div></li>`,
      )}</ul>`,
  };
}

/** A browser that the account knows. */
export interface DeviceValues {
  readonly id: string;
  readonly name: string | null;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly current: boolean;
  /** The time until which the browser stands in for the second factor. Null if it does not. */
  readonly trustedUntil: string | null;
  readonly forget: FormValues;
}

/** The values of the card `browsers`. */
export interface DevicesValues {
  /** Whether the user gets an email about a sign-in in a new browser. */
  readonly isMailed: boolean;
  readonly devices: readonly DeviceValues[];
}

/** @internal */
export function browsersCard(site: Site): Card | null {
  const [list, forget] = [site.route('get /devices'), site.route('delete /devices/:id')];
  if (!list || !forget) return null;
  return card<'browsers'>({
    name: 'browsers',
    forms: [
      {
        name: 'forget-browser/:id',
        route: forget,
        next: () => site.page('account/security', { done: 'browser-forgotten' }),
      },
    ],
    async values(visit) {
      const [{ devices }, methods] = await allOf([site.read(list, visit), visit.methods]);
      return {
        isMailed: site.mailsNotices(visit.auth?.user),
        devices: devices.map((one) => ({
          id: one.id,
          name: one.name,
          current: one.current,
          firstSeenAt: one.first_seen_at,
          lastSeenAt: one.last_seen_at,
          // The trust counts only for the password.
          trustedUntil: methods.password ? (one.trusted_until ?? null) : null,
          forget: site.form(visit, SECURITY, 'forget-browser/:id', { id: one.id }),
        })),
      };
    },
  });
}

/** @internal */
export function browsersView(
  { devices, isMailed }: DevicesValues,
  _page: CommonValues,
  words: Words,
): CardView {
  const t = words.security.browsers;
  return {
    title: t.title,
    state: t.count(devices.length),
    opens: devices.length === 0 ? null : words.security.show,
    content: html`<p>${t.text}${isMailed && ` ${t.mailed}`}</p>${
      devices.length > 0 &&
      html`<ul data-part="list">${devices.map(
        ({ name, firstSeenAt, lastSeenAt, current, trustedUntil, forget }) => {
          const named = name === null ? words.undoChange.unknownDevice : deviceIn(words, name);
          return html`<li data-part="item"${current && html` data-current`}>${deviceIcon(name)}<div><p><strong>${named}</strong>${
            current && html` <span data-part="tag">${t.current}</span>`
          }</p><p data-part="quiet">${t.seen(timeOf(firstSeenAt, words), timeOf(lastSeenAt, words))}${
            trustedUntil !== null && html`<br>${t.trusted(timeOf(trustedUntil, words))}`
          }</p></div>${question(
            {
              label: t.forget,
              about: named,
              text: t.forgetText,
              submit: t.confirmForget,
              form: forget,
              kind: 'secondary',
            },
            words,
          )}</li>`;
        },
      )}</ul>`
    }`,
  };
}

declare module '../../values.js' {
  interface CardValues {
    changes: ChangesValues;
    browsers: DevicesValues;
  }
}
