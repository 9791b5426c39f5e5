/** Says on the page, or in one form of it, what went wrong; null takes it away. */
export function showProblem(problem, within = document) {
  const alert = within.querySelector('[role=alert]');
  alert.hidden = !problem;
  alert.textContent = problem?.message ?? '';
}

/** Says on the page what was done. */
export function showStatus(text) {
  const status = document.querySelector('.status');
  if (status) status.textContent = text;
}

/** Takes away what the page says of something earlier. */
export function clearMessages() {
  showProblem(null);
  showStatus('');
}

/** Runs what needs a session. Where that has ended meanwhile, the user signs in again and comes back. */
export async function signedIn(act) {
  try {
    clearMessages();
    await act();
  } catch (problem) {
    if (problem.isSignedOut) goToSignIn();
    else showProblem(problem);
  }
}

export function goToSignIn() {
  location.assign(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search, ended: 1 })}`);
}

/** Has a button run what needs a session. It waits meanwhile: a second click would do it twice. */
export function onClick(button, act) {
  button.addEventListener('click', async () => {
    button.disabled = true;
    await signedIn(act);
    button.disabled = false;
  });
}

/** One row of a list, or another piece of the page, from its <template>. The values are inserted as text, never as HTML. */
export function row(templateId, values) {
  const copy = document.getElementById(templateId).content.cloneNode(true);
  for (const place of copy.querySelectorAll('[data-text]')) place.textContent = values[place.dataset.text];
  return copy.firstElementChild;
}

/** Where a link to this page may lead on: only within this app, since anybody can write a link. */
export function nextPage() {
  const next = new URLSearchParams(location.search).get('next') ?? '/account';
  const url = URL.canParse(next, location.origin) && new URL(next, location.origin);
  return url && url.origin === location.origin ? url.href : '/account';
}

/** What the page's address says by a parameter, for this once: a later reload does not find it any more. */
export function takeFromAddress(name) {
  const url = new URL(location.href);
  const value = url.searchParams.get(name);
  url.searchParams.delete(name);
  if (value !== null) history.replaceState(null, '', url);
  return value;
}

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const toTheSecond = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export const formatDate = (iso) => date.format(new Date(iso));
export const formatTime = (iso) => dateAndTime.format(new Date(iso));
export const formatSecond = (iso) => toTheSecond.format(new Date(iso));
