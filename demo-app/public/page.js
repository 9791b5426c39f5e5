/** Moves the focus to an element that is not a control: the one that takes the place of what was focused. */
export function moveFocus(element) {
  element.tabIndex = -1;
  element.focus();
}

/** Shows the items of a list, or the text for an empty list, which is the element before it. */
export function fillList(list, items) {
  list.replaceChildren(...items);
  list.previousElementSibling.hidden = items.length > 0;
}

/** Empties a row whose subject is gone, except for its messages. The other rows stay where they are. */
export function emptyRow(li) {
  for (const part of li.querySelectorAll(':scope > :not(.messages)')) part.remove();
  moveFocus(li);
}

/** A list row or another part of the page, from its <template>. The values are inserted as text, never as HTML. */
export function row(templateId, values) {
  const copy = document.getElementById(templateId).content.cloneNode(true);
  for (const place of copy.querySelectorAll('[data-text]')) place.textContent = values[place.dataset.text];
  return copy.firstElementChild;
}

/** The page in `next`, but only a path of this app: anyone can create a link to this page. */
export function nextPage() {
  const next = new URLSearchParams(location.search).get('next') ?? '';
  const url = next.startsWith('/') && URL.canParse(next, location.origin) && new URL(next, location.origin);
  return url && url.origin === location.origin ? url.href : '/account';
}

/** The page where a sign-in is completed with a second factor. It cannot ask the server how that can be given. */
export function secondFactorPage({ methods }) {
  sessionStorage.setItem('methods', methods.join(' '));
  const next = new URLSearchParams(location.search).get('next');
  return `/second-factor${next === null ? '' : `?${new URLSearchParams({ next })}`}`;
}

/** Makes the links between the sign-in page and the sign-up page keep `next`. */
export function keepNext() {
  const next = new URLSearchParams(location.search).get('next');
  if (next === null) return;
  for (const link of document.querySelectorAll('a[href="/sign-in"], a[href="/sign-up"]')) {
    link.search = new URLSearchParams({ next });
  }
}

/** Returns a query parameter and removes it from the URL, so that it does not apply again after a reload. */
export function takeFromAddress(name) {
  const url = new URL(location.href);
  const value = url.searchParams.get(name);
  url.searchParams.delete(name);
  if (value !== null) history.replaceState(null, '', url);
  return value;
}

/** What to call a user. A user can have neither an email nor a username. */
export const nameOf = ({ id, email, username }) => email ?? username ?? `User …${id.slice(-6)}`;

/** Whether a user, as administrators see them, is suspended now. */
export const isSuspended = ({ suspended_at, suspended_until }) =>
  suspended_at !== null && (suspended_until === null || new Date(suspended_until) > new Date());

/** Offers a text as a file to save. */
export function save(name, text, type) {
  const link = document.createElement('a');
  link.download = name;
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const toTheSecond = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export const formatDate = (iso) => date.format(new Date(iso));
export const formatTime = (iso) => dateAndTime.format(new Date(iso));
export const formatSecond = (iso) => toTheSecond.format(new Date(iso));
