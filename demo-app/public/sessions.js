import { onClick, signedIn } from './actions.js';
import { call } from './api.js';
import { confirmed } from './confirm.js';
import { deviceOf } from './device.js';
import { emptyRow, fillList, formatTime, row } from './page.js';

const list = document.getElementById('sessions');
const endAll = document.getElementById('end-all');

async function load() {
  const { sessions } = await call('GET', '/auth/sessions');
  fillList(list, sessions.map(item));
}

function item(session) {
  const device = deviceOf(session.user_agent);
  const li = row('session', {
    device,
    ip: session.ip_address ?? 'Unknown address',
    active: `Active ${formatTime(session.last_active_at)}`,
    how: session.aal > 1 ? ' · With two factors' : '',
  });
  li.querySelector('.badge').hidden = !session.current;
  const button = li.querySelector('button');
  button.setAttribute('aria-label', `End the session on ${device}`);
  onClick(button, () => end(session, device, li));
  return li;
}

async function end(session, device, li) {
  await call('DELETE', `/auth/sessions/${session.id}`);
  if (session.current) location.assign('/');
  else emptyRow(li);
  return `The session on ${device} has ended.`;
}

onClick(endAll, async () => {
  const title = 'End all sessions?';
  const text = 'You will be signed out everywhere, in this browser too.';
  if (!(await confirmed({ title, text, action: 'End all sessions' }))) return;
  await call('POST', '/auth/revoke-sessions');
  location.assign('/');
});

signedIn(load);
