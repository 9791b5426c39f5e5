import { signedIn } from './actions.js';
import { call } from './api.js';
import { showAuthenticatorApp } from './authenticator-app.js';
import { showPasskeys } from './passkey-list.js';

signedIn(async () => {
  const { user } = await call('GET', '/auth/me');
  const isVerified = user.email === null || user.email_verified_at !== null;
  document.getElementById('unverified').hidden = isVerified;
  await Promise.all([showAuthenticatorApp(user, isVerified), showPasskeys(isVerified)]);
});
