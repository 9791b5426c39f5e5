import { onClick } from './actions.js';
import { call, Problem } from './api.js';
import { ofPassword, onSubmit } from './form.js';
import { clearMessages } from './messages.js';
import { getPasskey, hasPasskeys } from './passkeys.js';
import { providerButton } from './providers.js';

const dialog = document.getElementById('reauthenticate');
const by = (way) => dialog.querySelector(`.by-${way}`);

// What the server answers if the session is not enough for an action, and why.
const REASONS = {
  reauthentication_required: 'You signed in a while ago.',
  second_factor_required: 'This needs your second factor.',
};

/**
 * Runs an action that needs a fresh sign-in, or the second factor. If that is missing, the user must give it first.
 *
 * @returns whether the action ran: the user can cancel
 */
export async function withFreshSignIn(act) {
  try {
    await act();
    return true;
  } catch (problem) {
    if (!(problem.code in REASONS)) throw problem;
    if (!(await reauthenticated(problem.code))) return false;
  }
  await act();
  return true;
}

/** Calls a JSON route that needs a fresh sign-in. Resolves to its answer, or to undefined if the user cancels. */
export async function freshly(method, path, body) {
  let answer;
  await withFreshSignIn(async () => {
    answer = await call(method, path, body);
  });
  return answer;
}

async function reauthenticated(reason) {
  const methods = await waysToConfirm();
  const { providers } = await call('GET', '/api/providers');
  offer(
    reason,
    methods,
    providers.filter(({ id }) => methods.providers.includes(id)),
  );
  clearMessages();
  dialog.returnValue = '';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  return dialog.returnValue === 'reauthenticated';
}

/** Links in emails also lead here without a session. */
async function waysToConfirm() {
  try {
    return await call('GET', '/auth/sign-in-methods');
  } catch (problem) {
    if (!problem.isSignedOut) throw problem;
    throw new Problem({
      detail: 'Your account has a second factor. Sign in first, then open the link again.',
    });
  }
}

/** Shows the ways that are enough: of an account with a second factor, the password alone is not. */
function offer(reason, { password, totp = false, recovery_codes_left = 0, passkeys = 0 }, linked) {
  const needsFactor = totp || reason === 'second_factor_required';
  const ways = {
    password: password && !needsFactor,
    code: totp,
    'recovery-code': totp && recovery_codes_left > 0,
    passkey: passkeys > 0 && hasPasskeys,
    // Users without a password sign in again at a provider that they have linked.
    provider: !password && !needsFactor && linked.length > 0,
  };
  for (const [way, isOffered] of Object.entries(ways)) by(way).hidden = !isOffered;
  by('nothing').hidden = Object.values(ways).includes(true);
  by('recovery-code').open = false;
  by('provider')
    .querySelector('.buttons')
    .replaceChildren(
      ...linked.map((one) => providerButton(one, 'reauthenticate', 'reauthenticate-provider')),
    );
  dialog.querySelector('.why').textContent = REASONS[reason];
  for (const form of dialog.querySelectorAll('form')) form.reset();
}

async function reauthenticate(proof) {
  await call('POST', '/auth/reauthenticate', proof);
  dialog.close('reauthenticated');
}

onSubmit(by('password'), ({ password }) => ofPassword('password', () => reauthenticate({ password })));
onSubmit(by('code'), ({ code }) => reauthenticate({ code }));
onSubmit(by('recovery-code').querySelector('form'), ({ code }) => reauthenticate({ recovery_code: code }));
onClick(by('passkey').querySelector('button'), async () => {
  const { options } = await call('POST', '/auth/reauthenticate/options');
  await reauthenticate({ passkey: await getPasskey(options) });
});

dialog.querySelector('.cancel').addEventListener('click', () => dialog.close());
