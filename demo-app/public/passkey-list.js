import { onClick, signedIn } from './actions.js';
import { call } from './api.js';
import { confirmed } from './confirm.js';
import { deviceOf } from './device.js';
import { onSubmit } from './form.js';
import { clearMessages } from './messages.js';
import { emptyRow, fillList, formatDate, formatTime, row } from './page.js';
import { createPasskey, hasPasskeys } from './passkeys.js';
import { freshly, withFreshSignIn } from './reauthenticate.js';

const list = document.getElementById('passkeys');
const add = document.getElementById('add');
const dialog = document.getElementById('rename');
const rename = dialog.querySelector('form');
let renamed;

/** Lists the passkeys. @param canAdd an account whose email is not verified cannot */
export async function showPasskeys(canAdd) {
  await load();
  add.hidden = !canAdd || !hasPasskeys;
  add.elements.name.defaultValue = deviceOf(navigator.userAgent);
  document.getElementById('no-passkeys').hidden = hasPasskeys;
}

async function load() {
  const { passkeys } = await call('GET', '/auth/passkeys');
  fillList(list, passkeys.map(item));
}

function item(passkey) {
  const { id, name } = passkey;
  const li = row('passkey-row', {
    name,
    kind: kindOf(passkey),
    created: `Added ${formatDate(passkey.created_at)}`,
    used: passkey.last_used_at ? `Last used ${formatTime(passkey.last_used_at)}` : 'Never used',
  });
  const [renameButton, remove] = li.querySelectorAll('button');
  renameButton.id = `rename-${id}`;
  renameButton.setAttribute('aria-label', `Rename ${name}`);
  onClick(renameButton, () => askForName(passkey));
  remove.setAttribute('aria-label', `Remove ${name}`);
  onClick(remove, async () => {
    const title = `Remove “${name}”?`;
    const text =
      'You will no longer be able to sign in with it. Your device keeps listing it until you delete it there.';
    if (!(await confirmed({ title, text, action: 'Remove passkey' }))) return;
    if (!(await withFreshSignIn(() => call('DELETE', `/auth/passkeys/${id}`)))) return;
    emptyRow(li);
    return `The passkey “${name}” has been removed.`;
  });
  return li;
}

function kindOf({ device_type, backed_up }) {
  if (device_type === 'singleDevice') return 'On one device';
  return backed_up ? 'Synced' : 'Not backed up';
}

onSubmit(add, async ({ name }) => {
  const answer = await freshly('POST', '/auth/passkeys/options');
  if (!answer) return;
  const response = await createPasskey(answer.options);
  const { passkey } = await call('POST', '/auth/passkeys', { response, name });
  add.reset();
  await load();
  return `The passkey “${passkey.name}” has been added. You can now sign in with it.`;
});

function askForName(passkey) {
  renamed = passkey;
  clearMessages();
  rename.elements.name.value = passkey.name;
  dialog.showModal();
  rename.elements.name.select();
}

onSubmit(rename, async ({ name }) => {
  const done = await freshly('PATCH', `/auth/passkeys/${renamed.id}`, { name });
  if (!done) return;
  dialog.close();
  await signedIn(load, list);
  document.getElementById(`rename-${renamed.id}`)?.focus();
});

dialog.querySelector('.cancel').addEventListener('click', () => dialog.close());
