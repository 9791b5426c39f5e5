import { onClick, signedIn } from './actions.js';
import { call } from './api.js';
import { row } from './page.js';

/**
 * Redirects to a provider, to sign in (`authorize`), to `link` an account, or to `reauthenticate`. The provider redirects
 * back to this page.
 */
export async function redirectTo(provider, purpose) {
  const back = new URLSearchParams({ callback_url: location.pathname + location.search });
  const { url } = await call('GET', `/auth/oauth/${provider}/${purpose}?${back}`);
  // Those of an earlier sign-in with a password.
  sessionStorage.removeItem('methods');
  location.assign(url);
}

/** Shows a sign-in button for each provider below the form. */
export function offerProviders() {
  const place = document.getElementById('providers');
  signedIn(async () => {
    const { providers } = await call('GET', '/api/providers');
    place.replaceChildren(...providers.map((provider) => providerButton(provider, 'authorize')));
    if (providers.length > 0) document.querySelector('.or').hidden = false;
  }, place);
}

/** A button to sign in with a provider, for the first time or again. */
export function providerButton({ id, name }, purpose, template = 'provider') {
  const button = row(template, { name: `Sign in with ${name}` });
  onClick(button, () => redirectTo(id, purpose));
  return button;
}
