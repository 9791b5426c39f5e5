import { onClick, signedIn } from './actions.js';
import { call } from './api.js';
import { confirmed } from './confirm.js';
import { onSubmit } from './form.js';
import { emptyRow, fillList, formatDate, formatTime, moveFocus, row } from './page.js';
import { freshly, withFreshSignIn } from './reauthenticate.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const form = document.querySelector('main form');
const list = document.getElementById('keys');
const made = document.getElementById('made');

async function load() {
  const { api_keys } = await call('GET', '/auth/api-keys');
  fillList(list, api_keys.map(item));
}

function item(key) {
  const li = row('key-row', {
    name: key.name,
    start: `${key.start}…`,
    scopes: key.scopes.join(', ') || 'No scopes',
    expires: expiry(key.expires_at),
    used: key.last_used_at ? `Last used ${formatTime(key.last_used_at)}` : 'Never used',
  });
  const button = li.querySelector('button');
  button.setAttribute('aria-label', `Revoke ${key.name}`);
  onClick(button, async () => {
    const title = `Revoke “${key.name}”?`;
    const text = 'Programs that use this key lose access at once. A revoked key cannot be restored.';
    if (!(await confirmed({ title, text, action: 'Revoke key' }))) return;
    if (!(await withFreshSignIn(() => call('DELETE', `/auth/api-keys/${key.id}`)))) return;
    made.hidden = true;
    emptyRow(li);
    return `The key “${key.name}” has been revoked.`;
  });
  return li;
}

function expiry(iso) {
  if (!iso) return 'Never expires';
  return `${new Date(iso) < new Date() ? 'Expired' : 'Expires'} ${formatDate(iso)}`;
}

onSubmit(form, async ({ name, days }) => {
  const scopes = new FormData(form).getAll('scopes');
  const expires_at = days ? new Date(Date.now() + days * DAY_MS).toISOString() : null;
  const answer = await freshly('POST', '/auth/api-keys', { name, scopes, expires_at });
  if (!answer) return;
  const { key } = answer;
  form.reset();
  made.querySelector('#key').textContent = key;
  made.querySelector('#curl').textContent =
    `curl ${location.origin}${scopes.includes('reports:read') ? '/api/reports' : '/api/hello'} \\\n  -H 'X-Service-API-Key: ${key}'`;
  made.hidden = false;
  moveFocus(made.querySelector('h2'));
  await load();
});

onClick(document.getElementById('copy'), async () => {
  await navigator.clipboard.writeText(made.querySelector('#key').textContent);
  return 'The key has been copied.';
});

signedIn(load);
