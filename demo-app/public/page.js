/** Shows an error on the page or in one of its forms; null removes it. */
export function showProblem(problem, within = document) {
  const alert = within.querySelector('[role=alert]');
  alert.hidden = !problem;
  alert.textContent = problem?.message ?? '';
}

/** Shows on the page what was done. */
export function showStatus(text) {
  const status = document.querySelector('.status');
  if (status) status.textContent = text;
}

/** Removes earlier messages from the page. */
export function clearMessages() {
  showProblem(null);
  showStatus('');
}

/** Runs an action that needs a session. If the session has ended, the user signs in again and returns to this page. */
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

/** Runs an action that needs a session on click. The button is disabled until the action is done. */
export function onClick(button, act) {
  button.addEventListener('click', async () => {
    button.disabled = true;
    await signedIn(act);
    button.disabled = false;
  });
}

/** A list row or another part of the page, from its <template>. The values are inserted as text, never as HTML. */
export function row(templateId, values) {
  const copy = document.getElementById(templateId).content.cloneNode(true);
  for (const place of copy.querySelectorAll('[data-text]')) place.textContent = values[place.dataset.text];
  return copy.firstElementChild;
}

/** The page in `next`, but only within this app: anyone can create a link to this page. */
export function nextPage() {
  const next = new URLSearchParams(location.search).get('next') ?? '/account';
  const url = URL.canParse(next, location.origin) && new URL(next, location.origin);
  return url && url.origin === location.origin ? url.href : '/account';
}

/** Returns a query parameter and removes it from the URL, so that it does not apply again after a reload. */
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
