import { call } from './api.js';
import { ofPassword, onSubmit } from './form.js';
import { onClick, row, showProblem } from './page.js';
import { leaveFor } from './providers.js';

const dialog = document.getElementById('reauthenticate');
const form = dialog.querySelector('form');
const providersPart = dialog.querySelector('.providers');

/**
 * Runs what needs a fresh sign-in; where the last one is too long ago, the user proves first who they are.
 *
 * @returns whether it was done: the user may not want to
 */
export async function freshly(act) {
  try {
    await act();
    return true;
  } catch (problem) {
    if (problem.code !== 'reauthentication_required') throw problem;
  }
  if (!(await isProved())) return false;
  await act();
  return true;
}

async function isProved() {
  const methods = await call('GET', '/api/sign-in-methods');
  const { providers } = await call('GET', '/api/providers');
  form.hidden = !methods.password;
  // Who has no password signs in again: that is as fresh as it gets.
  providersPart.hidden = methods.password;
  providersPart.querySelector('div').replaceChildren(
    ...providers
      .filter(({ id }) => methods.providers.includes(id))
      .map(({ id, name }) => {
        const button = row('provider', { name: `Sign in with ${name}` });
        onClick(button, () => leaveFor(id, 'authorize'));
        return button;
      }),
  );
  form.reset();
  showProblem(null, form);
  dialog.returnValue = '';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  return dialog.returnValue === 'proved';
}

onSubmit(form, async ({ password }) => {
  await ofPassword('password', () => call('POST', '/auth/reauthenticate', { password }));
  dialog.close('proved');
});

for (const button of dialog.querySelectorAll('.cancel'))
  button.addEventListener('click', () => dialog.close());
