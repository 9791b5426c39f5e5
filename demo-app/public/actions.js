import { call } from './api.js';
import { clearMessages, messagesNear, showProblem, showStatus } from './messages.js';

/**
 * Runs an action that needs a session, and shows near an element what it returns, or why it failed. If the session has
 * ended, the user signs in again and returns to this page.
 */
export async function signedIn(act, near) {
  // Looked up before the action, which may remove the button.
  const place = messagesNear(near);
  try {
    const done = await act();
    if (done) showStatus(done, place);
  } catch (problem) {
    if (problem.isSignedOut) goToSignIn();
    else showProblem(problem, place);
  }
}

let signingOut = false;

export async function signOut() {
  signingOut = true;
  try {
    await call('POST', '/auth/signout');
  } catch (problem) {
    signingOut = false;
    throw problem;
  }
  location.assign('/');
}

/** Does nothing while the user signs out, since what the page is still loading then finds the session ended. */
export function goToSignIn() {
  if (signingOut) return;
  location.assign(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search, ended: 1 })}`);
}

/** Runs an action that needs a session on click. What it returns is shown next to the button. */
export function onClick(button, act) {
  button.addEventListener('click', (event) => {
    // Without this script, some buttons send a form.
    event.preventDefault();
    once(button, () => {
      clearMessages();
      return signedIn(act, button);
    });
  });
}

/**
 * Ignores further clicks until the action is done. The button is not `disabled`, because it would lose the focus, and
 * keyboard users would have to start from the top of the page.
 */
export async function once(button, act) {
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  await act();
  button.removeAttribute('aria-disabled');
}
