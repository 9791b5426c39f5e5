import { call, Problem } from './api.js';
import { onClick, row, showProblem, takeFromAddress } from './page.js';

const FAILURES = {
  access_denied: 'You declined at the provider, so nothing has changed.',
  account_exists:
    'There is an account with this email already. Sign in to it, then link the provider under “Linked accounts”.',
  account_linked_elsewhere: 'This account at the provider is linked to another user here.',
  provider_already_linked: 'Another account of this provider is linked already. Unlink it first.',
  provider_error: 'The provider did not answer as it should. Try again later.',
};

/** Leaves for a provider, to sign in (`authorize`) or to link; the way back leads to this page. */
export async function leaveFor(provider, purpose) {
  const back = new URLSearchParams({ callback_url: location.pathname + location.search });
  const { url } = await call('GET', `/auth/oauth/${provider}/${purpose}?${back}`);
  location.assign(url);
}

/** Offers each provider below the form, for signing in. */
export async function offerProviders() {
  showFailure();
  const { providers } = await call('GET', '/api/providers');
  const buttons = providers.map(({ id, name }) => {
    const button = row('provider', { name: `Sign in with ${name}` });
    onClick(button, () => leaveFor(id, 'authorize'));
    return button;
  });
  document.getElementById('providers').replaceChildren(...buttons);
}

/** Says why the way back from a provider ended with `?error=`. */
export function showFailure() {
  const code = takeFromAddress('error');
  if (code === null) return;
  const detail = Object.hasOwn(FAILURES, code) ? FAILURES[code] : 'That did not work. Please try again.';
  showProblem(new Problem({ code, detail }));
}
