import { onClick } from './actions.js';
import { call } from './api.js';
import { showProblem } from './messages.js';
import { getPasskey, hasPasskeys } from './passkeys.js';

// The server forgets what it has asked for after 5 minutes. A page that stays open asks again before that.
const RENEW_MS = 4 * 60 * 1000;

const form = document.querySelector('main form');
const button = document.getElementById('passkey');
let waiting = new AbortController();
let signedIn;

/** Offers passkeys on the sign-in page: with a button, and in the list that opens at the field of the account's name. */
export function offerPasskeys(done) {
  signedIn = done;
  if (!hasPasskeys) return;
  button.hidden = false;
  onClick(button, () => inPlaceOfList(signIn));
  waitForChoice();
}

/** Signs in otherwise than from the list, since a browser answers one request at a time. If that fails, there is the list again. */
export async function inPlaceOfList(act) {
  waiting.abort();
  try {
    await act();
  } catch (problem) {
    waitForChoice();
    throw problem;
  }
}

async function signIn() {
  await complete(await ask());
}

/** @param more how to ask. With `mediation`, the browser waits until somebody chooses a passkey in the list */
async function ask(more) {
  const { options } = await call('POST', '/auth/signin/passkey/options');
  return getPasskey(options, more);
}

async function complete(response) {
  const remember_me = form.elements.remember_me.checked;
  signedIn(await call('POST', '/auth/signin/passkey', { response, remember_me }));
}

async function waitForChoice() {
  waiting.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  if (!hasPasskeys || !(await PublicKeyCredential.isConditionalMediationAvailable?.()) || signal.aborted)
    return;
  const renewing = setTimeout(waitForChoice, RENEW_MS);
  signal.addEventListener('abort', () => clearTimeout(renewing));
  // Without a message: nobody has chosen anything yet, and there is the button.
  const response = await ask({ mediation: 'conditional', signal }).catch(() => null);
  if (response && !signal.aborted) await complete(response).catch((problem) => showProblem(problem, button));
}
