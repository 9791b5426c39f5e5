import { html } from '../../html.js';
import { deviceIn, deviceNameOf } from '../../mail/messages.js';
import type { Words } from '../../words/pages/index.js';
import { formOf, hidden, question } from '../controls.js';
import { deviceIcon } from '../icons.js';
import { type Page, page, type View } from '../page.js';
import type { Site } from '../site.js';
import { timeOf } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';

/** The values of the page `account/sessions`. */
export interface SessionsValues {
  /** The session of the request, and then the others, newest first. */
  readonly sessions: readonly SessionValues[];
  /** The list of browsers that the user has used. */
  readonly browsers: string;
  /** The form that ends all sessions except for this one. Null if there are no others. */
  readonly endOthers: FormValues | null;
  /** The form that ends all sessions. Null if there are no others, because the user then signs out. */
  readonly endAll: FormValues | null;
}

/** A session in the list. */
export interface SessionValues {
  readonly id: string;
  /** The device in words, such as "Firefox on Windows". Null if it is not known. */
  readonly device: string | null;
  readonly ip: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastActiveAt: string;
  /** Whether someone who runs the app acts as the user in it. */
  readonly isActing: boolean;
  /** Whether it is the session of the request. */
  readonly isCurrent: boolean;
  /** The form that ends it. Null for the session of the request, which the user signs out of. */
  readonly end: FormValues | null;
}

/** @internal */
export function sessions(site: Site): Page {
  const [path, name] = ['/account/sessions', 'account/sessions'];
  const [end, revoke] = [site.require('delete /sessions/:id'), site.require('post /revoke-sessions')];
  return page<SessionsValues>({
    name,
    path,
    kind: 'account',
    access: 'session',
    openTo: 'any-task',
    inNavigation: true,
    forms: [
      { name: 'end/:id', route: end, next: () => site.page(name, { done: 'session-ended' }) },
      {
        name: 'end-others',
        route: revoke,
        next: () => site.page(name, { done: 'other-sessions-ended' }),
      },
      {
        name: 'end-all',
        route: revoke,
        next: () => site.page('sign-in', { done: 'signed-out-everywhere' }),
      },
    ],
    async values(visit) {
      const { sessions: listed } = await site.read(site.require('get /sessions'), visit);
      const ofThisDeviceFirst = [...listed].sort((one, other) => Number(other.current) - Number(one.current));
      const shown = ofThisDeviceFirst.map(async (one) => ({
        id: one.id,
        device: await deviceNameOf(one.user_agent),
        ip: one.ip_address,
        createdAt: one.created_at,
        lastActiveAt: one.last_active_at,
        isActing: one.acting === true,
        isCurrent: one.current,
        end: one.current ? null : site.form(visit, { path }, 'end/:id', { id: one.id }),
      }));
      return {
        sessions: await Promise.all(shown),
        browsers: `${site.page('account/security')}#browsers`,
        endOthers: listed.length > 1 ? site.form(visit, { path }, 'end-others') : null,
        endAll: listed.length > 1 ? site.form(visit, { path }, 'end-all') : null,
      };
    },
    view: sessionsView,
  });
}

function sessionsView(values: SessionsValues & CommonValues, words: Words): View {
  const { browsers, endOthers, endAll } = values;
  const t = words.sessions;
  return {
    title: t.title,
    main: html`<section data-part="card"><p>${t.lead} ${t.browsers(html`<a href="${browsers}">${words.security.browsers.title}</a>`)}</p><ul data-part="list">${values.sessions.map(
      ({ device, ip, createdAt, lastActiveAt, isActing, isCurrent, end: form }) => {
        const name = isActing ? t.acting : device === null ? t.unknownDevice : deviceIn(words, device);
        return html`<li data-part="item"${isCurrent && html` data-current`}>${deviceIcon(device)}<div><p><strong>${name}</strong>${
          isCurrent && html` <span data-part="tag">${t.current}</span>`
        }</p><p data-part="quiet">${words.labeled(t.active, timeOf(lastActiveAt, words, 'ago'))}<br>${words.labeled(t.created, timeOf(createdAt, words))}${
          ip !== null && html`<br>${words.labeled(t.ip, ip)}`
        }</p></div>${
          form &&
          formOf(
            form,
            {
              submit: t.end,
              kind: 'secondary',
              about: t.about(name, timeOf(createdAt, words)),
            },
            words,
          )
        }</li>`;
      },
    )}</ul>${
      endOthers &&
      endAll &&
      html`<div data-part="stack">${formOf(
        endOthers,
        { submit: t.endOthers, kind: 'secondary' },
        words,
        hidden('others', 'true'),
      )}${question(
        { label: t.wantsEndAll, text: t.endAllText, submit: t.endAll, form: endAll, kind: 'secondary' },
        words,
      )}</div>`
    }</section>`,
  };
}

declare module '../values.js' {
  interface PageValues {
    'account/sessions': SessionsValues;
  }
}
