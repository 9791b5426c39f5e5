import { onClick } from './actions.js';
import { call } from './api.js';
import { ofPassword, onSubmit } from './form.js';
import { mailedToken, showDone } from './mailed-link.js';
import { takeFromAddress } from './page.js';
import { getPasskey, hasPasskeys } from './passkeys.js';

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
  'device-forgotten': 'The removal of a browser',
  'new-device': 'All that was done since the sign-in from a new device',
};

const form = document.querySelector('main form');

const token = mailedToken();
// Nobody who looks over the user's shoulder, or at the history of this browser, needs to see it.
takeFromAddress('token');

/** Shows what a sign-in asked for before the change. */
function ask(missing) {
  const isElsewhere = missing.includes('browser');
  document.getElementById('elsewhere').hidden = !isElsewhere;
  form.hidden = isElsewhere;
  document.getElementById('with-proof').hidden = missing.length === 0;
  for (const part of form.querySelectorAll('[data-proof]')) {
    const isPasskey = part.dataset.proof === 'passkey';
    part.hidden = !missing.includes(part.dataset.proof) || (isPasskey && !hasPasskeys);
  }
}

async function undo(proof) {
  const { undone } = await call('POST', '/auth/undo-change', { token, ...proof });
  document.getElementById('undone').textContent = `${UNDONE[undone] ?? 'The change'} has been undone.`;
  showDone();
}

onSubmit(form, async ({ password, code, recovery_code }) => {
  const proof = {
    ...(password && { password }),
    ...(code && { code }),
    ...(recovery_code && { recovery_code }),
  };
  await ofPassword('password', () => undo(proof));
});

onClick(document.getElementById('passkey'), async () => {
  const { options } = await call('POST', '/auth/undo-change/options', { token });
  await undo({ passkey: await getPasskey(options) });
});

// A link that does not work any more is reported when it is used.
const { missing } = token
  ? await call('POST', '/auth/undo-change/lookup', { token }).catch(() => ({ missing: [] }))
  : { missing: [] };
if (token) ask(missing);
