import { call } from './api.js';
import { deviceOf } from './device.js';
import { formatTime, onClick, row, showStatus, signedIn } from './page.js';

const list = document.getElementById('sessions');

async function load() {
  const { sessions } = await call('GET', '/auth/sessions');
  list.replaceChildren(...sessions.map(item));
}

function item(session) {
  const device = deviceOf(session.user_agent);
  const li = row('session', {
    device,
    ip: session.ip_address ?? 'Unknown address',
    active: `Active ${formatTime(session.last_active_at)}`,
  });
  li.querySelector('.badge').hidden = !session.current;
  const button = li.querySelector('button');
  button.setAttribute('aria-label', `End the session on ${device}`);
  onClick(button, () => end(session, device));
  return li;
}

async function end(session, device) {
  await call('DELETE', `/auth/sessions/${session.id}`);
  if (session.current) {
    location.assign('/');
    return;
  }
  await load();
  showStatus(`The session on ${device} has ended.`);
}

onClick(document.getElementById('end-all'), async () => {
  await call('POST', '/auth/revoke-sessions');
  location.assign('/');
});

signedIn(load);
