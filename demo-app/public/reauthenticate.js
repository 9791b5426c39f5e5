import { call } from './api.js';
import { ofPassword, onSubmit } from './form.js';
import { clearMessages } from './messages.js';
import { providerButton } from './providers.js';

const dialog = document.getElementById('reauthenticate');
const form = dialog.querySelector('form');
const providersPart = dialog.querySelector('.providers');

/**
 * Runs an action that needs a fresh sign-in. If the last sign-in is too long ago, the user must reauthenticate first.
 *
 * @returns whether the action ran: the user can cancel
 */
export async function withFreshSignIn(act) {
  try {
    await act();
    return true;
  } catch (problem) {
    if (problem.code !== 'reauthentication_required') throw problem;
  }
  if (!(await reauthenticated())) return false;
  await act();
  return true;
}

async function reauthenticated() {
  const methods = await call('GET', '/auth/sign-in-methods');
  const { providers } = await call('GET', '/api/providers');
  form.hidden = !methods.password;
  // Users without a password sign in again at a provider that they have linked.
  providersPart.hidden = methods.password;
  const linked = providers.filter(({ id }) => methods.providers.includes(id));
  providersPart
    .querySelector('.buttons')
    .replaceChildren(...linked.map((provider) => providerButton(provider, 'reauthenticate')));
  form.reset();
  clearMessages();
  dialog.returnValue = '';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  return dialog.returnValue === 'reauthenticated';
}

onSubmit(form, async ({ password }) => {
  await ofPassword('password', () => call('POST', '/auth/reauthenticate', { password }));
  dialog.close('reauthenticated');
});

for (const button of dialog.querySelectorAll('.cancel'))
  button.addEventListener('click', () => dialog.close());
