import { onClick, signedIn } from './actions.js';
import { call } from './api.js';
import { confirmed } from './confirm.js';
import { deviceOf } from './device.js';
import { onSubmit } from './form.js';
import { showStatus } from './messages.js';
import {
  emptyRow,
  fillList,
  formatDate,
  formatTime,
  isSuspended,
  nameOf,
  row,
  takeFromAddress,
} from './page.js';
import { withFreshSignIn } from './reauthenticate.js';

const route = `/auth/admin${location.pathname}`;
const part = (id) => document.getElementById(id);

signedIn(async () => {
  const [{ user }, me] = await Promise.all([call('GET', route), call('GET', '/auth/me')]);
  const isOwn = user.id === me.user.id;
  part('own').hidden = !isOwn;
  part('delete-part').hidden = isOwn;
  part('factor-part').hidden = isOwn;
  for (const element of document.querySelectorAll('main > section:first-of-type, #edit, #sessions-part'))
    element.hidden = false;
  const { name, username } = part('edit').elements;
  name.value = user.name ?? '';
  username.value = user.username ?? '';
  show(user, isOwn);
  await showSessions();
  if (takeFromAddress('created') === null) return '';
  return user.email ? `Created. An invitation was sent to ${user.email}.` : 'Created.';
});

function show(user, isOwn = false) {
  const wasSuspended = isSuspended(user);
  part('name').textContent = nameOf(user);
  part('email').textContent = user.email ?? 'None';
  part('verified').hidden = !user.email_verified_at;
  part('member-since').textContent = formatDate(user.created_at);
  part('status').textContent = wasSuspended ? inWords(user) : 'Active';
  part('reset').hidden = user.email === null;
  part('suspend').hidden = isOwn || wasSuspended;
  part('reinstate-part').hidden = !wasSuspended;
}

function inWords({ suspended_until, suspension_reason }) {
  const until = suspended_until ? ` until ${formatTime(suspended_until)}` : '';
  return `Suspended${until}${suspension_reason ? `: ${suspension_reason}` : ''}`;
}

async function showSessions() {
  const { sessions } = await call('GET', `${route}/sessions`);
  fillList(part('sessions'), sessions.map(item));
}

function item({ id, user_agent, ip_address, last_active_at }) {
  const device = deviceOf(user_agent);
  const li = row('session', {
    device,
    ip: ip_address ?? 'Unknown address',
    active: `Active ${formatTime(last_active_at)}`,
  });
  const button = li.querySelector('button');
  button.setAttribute('aria-label', `End the session on ${device}`);
  onClick(button, async () => {
    await call('DELETE', `${route}/sessions/${id}`);
    emptyRow(li);
    return `The session on ${device} has ended.`;
  });
  return li;
}

onSubmit(part('edit'), async ({ name, username }) => {
  const { user } = await call('PATCH', route, { name: name || null, ...(username && { username }) });
  part('name').textContent = nameOf(user);
  return 'Saved.';
});

onClick(part('send-reset'), async () => {
  await call('POST', `${route}/send-password-reset`);
  return 'A link was sent.';
});

onClick(part('end-all'), async () => {
  await call('POST', `${route}/revoke-sessions`);
  await showSessions();
  return 'All sessions have ended.';
});

onSubmit(part('suspend'), async ({ reason, until }) => {
  const { user } = await call('POST', `${route}/suspend`, {
    ...(reason && { reason }),
    // The field has the time of the browser's time zone.
    ...(until && { until: new Date(until).toISOString() }),
  });
  part('suspend').reset();
  show(user);
  await showSessions();
  showStatus(`${nameOf(user)} is suspended.`, part('reinstate'));
  part('reinstate').focus();
});

onClick(part('reinstate'), async () => {
  const { user } = await call('POST', `${route}/reinstate`);
  show(user);
  showStatus(`${nameOf(user)} can sign in again.`, part('suspend').querySelector('[type=submit]'));
  part('suspend').elements.reason.focus();
});

onClick(part('disable-factor'), async () => {
  const title = `Disable the second factor of ${part('name').textContent}?`;
  const text =
    'Do this only if you are sure who is asking. The user is told by email, with a link that undoes it.';
  if (!(await confirmed({ title, text, action: 'Disable second factor' }))) return '';
  const done = await withFreshSignIn(() => call('POST', `${route}/disable-second-factor`));
  return done && 'The second factor is off. The user can sign in with the password alone.';
});

onClick(part('delete'), async () => {
  const name = part('name').textContent;
  const text = 'This cannot be undone.';
  if (!(await confirmed({ title: `Delete ${name}?`, text, action: 'Delete user' }))) return;
  if (await withFreshSignIn(() => call('DELETE', route))) location.assign('/users');
});
