import { call, Problem } from './api.js';
import { ofPassword, onSubmit } from './form.js';
import { mailedToken, showDone } from './mailed-link.js';
import { takeFromAddress } from './page.js';

const UNDONE = {
  'password-set': 'The new password',
  'password-changed': 'The new password',
  'email-changed': 'The change of your email',
  'username-changed': 'The new username',
  'provider-linked': 'The link to a provider',
  'provider-unlinked': 'The unlinking of a provider',
  'second-factor-enabled': 'The second factor that was switched on',
  'second-factor-disabled': 'The switching off of your second factor',
  'recovery-code-used': 'All that was done after a recovery code was used',
  'recovery-codes-renewed': 'The new recovery codes',
  'passkey-added': 'The new passkey',
  'passkey-removed': 'The removal of a passkey',
  'api-key-created': 'The new API key',
  'account-deleted': 'The closing of your account',
  'new-device': 'All that was done since the sign-in from a new device',
};
// A password and the mailbox are just what a second factor is switched on against.
const NOT_ENOUGH =
  'This would take a second factor away, which none of these is enough for. Open the link in a browser where you were signed in before the change.';

const form = document.querySelector('main form');
const withProof = document.getElementById('with-proof');

const token = mailedToken();
// Nobody who looks over the user's shoulder, or at the history of this browser, needs to see it.
takeFromAddress('token');

onSubmit(form, async ({ password, code, recovery_code }) => {
  const proof = {
    ...(password && { password }),
    ...(code && { code }),
    ...(recovery_code && { recovery_code }),
  };
  try {
    const [field = 'password'] = Object.keys(proof);
    const { undone } = await ofPassword(field, () => call('POST', '/auth/undo-change', { token, ...proof }));
    document.getElementById('undone').textContent = `${UNDONE[undone] ?? 'The change'} has been undone.`;
  } catch (problem) {
    if (problem.code !== 'proof_required') throw problem;
    if (Object.keys(proof).length > 0) throw new Problem({ detail: NOT_ENOUGH });
    const isNews = withProof.hidden;
    withProof.hidden = false;
    form.elements.password.focus();
    if (!isNews) throw problem;
    return;
  }
  showDone();
});
