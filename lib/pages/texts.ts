import { type Html, html } from '../html.js';
import type { User } from '../tables/core.js';
import { maskEmail } from '../users/canonical.js';
import type { Words } from '../words/pages/index.js';
import { labelOf } from './controls.js';

/** Creates an email or a name, which breaks after an @ or a dot, and not within its words. */
export function breakable(text: string): Html {
  const parts = text.split(/(?<=[@.])/);
  return html`${parts.map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}`;
}

/** Returns a kind of change in words. A kind of another plugin has no words here, so its name is used. */
export function changeName(kind: string, words: Words): string {
  const name = words.changes[kind] ?? kind.replace(/-/g, ' ');
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * Creates a time. It is in UTC, because the server does not know the time zone of the user. A script shows it in the time
 * zone of the browser.
 *
 * @param as `ago` for how long ago it was, such as "3 hours ago", which only the script shows. `day` for the date alone,
 *   with the time in the title
 */
export function timeOf(iso: string, { formats }: Words, as?: 'ago' | 'day'): Html {
  const at = new Date(iso);
  const time = formats.time(at);
  if (as === 'day')
    return html`<time datetime="${iso}" data-part="time" data-day title="${time}">${formats.day(at)}</time>`;
  return html`<time datetime="${iso}" data-part="time"${as === 'ago' && html` data-ago`}>${time}</time>`;
}

/** Returns a day without a time, such as `1815-12-10`, in words. */
export function dayInWords(day: string, { formats }: Words): string {
  return formats.day(new Date(`${day}T00:00:00Z`));
}

/**
 * Creates a value of one of the app's own fields: a day without a time, such as `1815-12-10`, or a time, in UTC as in its
 * form. A script shows both in the language of the page, as all other times.
 */
export function ownTimeOf(type: 'date' | 'plainDate', value: string, words: Words): Html {
  if (type === 'date')
    return html`<time datetime="${value}" data-part="time" data-utc>${words.formats.time(new Date(value))}</time>`;
  return html`<time datetime="${value}" data-part="time" data-utc data-day>${dayInWords(value, words)}</time>`;
}

/** Returns the email of a user with most of its letters hidden. Null without an email: a username is not hidden. */
export function maskedName({ email }: Pick<User, 'email'>): string | null {
  return email === null ? null : maskEmail(email);
}

/** Returns the role of a member in words. A role of the app has no words here, so its name is used. */
export function roleName(role: string, words: Words): string {
  return words.roles[role] ?? words.ofApp(labelOf(role.replace(/-/g, '_')));
}
