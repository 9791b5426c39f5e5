import { onClick, signedIn } from './actions.js';
import { call, Problem } from './api.js';
import { showProblem } from './messages.js';
import { row, takeFromAddress } from './page.js';

const FAILURES = {
  invalid_flow:
    'This sign-in was not started in this browser, is already complete, or took too long. Start again.',
  access_denied: 'You declined at the provider, so nothing has changed.',
  account_exists:
    'There is already an account with this email. Sign in to it, then link the provider under “Linked accounts”.',
  account_linked_elsewhere: 'This account at the provider is linked to another user here.',
  provider_already_linked: 'You have already linked another account of this provider. Unlink it first.',
  account_not_linked: 'This is not the account at the provider that you have linked here.',
  reauthentication_required: 'The provider did not ask who you are. Sign out, sign in again, then retry.',
  rate_limited: 'Too many attempts. Try again in a minute.',
  provider_error: 'The provider did not respond correctly. Try again later.',
};

/**
 * Redirects to a provider, to sign in (`authorize`), to `link` an account, or to `reauthenticate`. The provider redirects
 * back to this page.
 */
export async function redirectTo(provider, purpose) {
  const back = new URLSearchParams({ callback_url: location.pathname + location.search });
  const { url } = await call('GET', `/auth/oauth/${provider}/${purpose}?${back}`);
  location.assign(url);
}

/** Shows a sign-in button for each provider below the form. */
export function offerProviders() {
  showFailure();
  const place = document.getElementById('providers');
  signedIn(async () => {
    const { providers } = await call('GET', '/api/providers');
    place.replaceChildren(...providers.map((provider) => providerButton(provider, 'authorize')));
    document.querySelector('.or').hidden = providers.length === 0;
  }, place);
}

/** A button to sign in with a provider, for the first time or again. */
export function providerButton({ id, name }, purpose) {
  const button = row('provider', { name: `Sign in with ${name}` });
  onClick(button, () => redirectTo(id, purpose));
  return button;
}

/** Shows why a sign-in or link with a provider failed, from `?error=` in the URL. */
export function showFailure() {
  const code = takeFromAddress('error');
  if (code !== null) showProblem(new Problem({ code, detail: failureOf(code) }));
}

/** What the code of a failure means, in words. */
export function failureOf(code) {
  return Object.hasOwn(FAILURES, code) ? FAILURES[code] : 'That did not work. Please try again.';
}
