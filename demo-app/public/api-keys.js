import { call } from './api.js';
import { onSubmit } from './form.js';
import { formatDate, formatTime, onClick, row, showStatus, signedIn } from './page.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const form = document.querySelector('form');
const list = document.getElementById('keys');
const made = document.getElementById('made');

async function load() {
  const { api_keys } = await call('GET', '/auth/api-keys');
  list.replaceChildren(...api_keys.map(item));
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
    await call('DELETE', `/auth/api-keys/${key.id}`);
    made.hidden = true;
    await load();
    showStatus(`The key “${key.name}” has been revoked.`);
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
  const { key } = await call('POST', '/auth/api-keys', { name, scopes, expires_at });
  form.reset();
  made.querySelector('#key').textContent = key;
  made.querySelector('#curl').textContent =
    `curl ${location.origin}/api/hello \\\n  -H 'X-Service-API-Key: ${key}'`;
  made.hidden = false;
  made.scrollIntoView({ block: 'nearest' });
  await load();
});

onClick(document.getElementById('copy'), async () => {
  await navigator.clipboard.writeText(made.querySelector('#key').textContent);
  showStatus('The key has been copied.');
});

signedIn(load);
