import { onClick } from './actions.js';
import { call } from './api.js';
import { confirmed } from './confirm.js';
import { onSubmit } from './form.js';
import { formatDate, isSuspended, nameOf, row } from './page.js';
import { paging } from './paging.js';

const PAGE_SIZE = 10;

paging(document.getElementById('users'), async (parameters) => {
  const query = new URLSearchParams({ limit: PAGE_SIZE });
  for (const name of ['search', 'cursor'])
    if (parameters.get(name)) query.set(name, parameters.get(name).trim());
  const { users, next_cursor } = await call('GET', `/auth/admin/users?${query}`);
  return { items: users.map(item), nextCursor: next_cursor };
});

function item(user) {
  const name = nameOf(user);
  const li = row('user', {
    name,
    username: user.username ?? 'No username',
    joined: `Joined ${formatDate(user.created_at)}`,
  });
  li.querySelector('[data-badge=verified]').hidden = !user.email_verified_at;
  li.querySelector('[data-badge=suspended]').hidden = !isSuspended(user);
  link(li, 'user', `/users/${user.id}`, `Manage ${name}`);
  link(li, 'events', `/events?user_id=${user.id}`, `Events of ${name}`);
  const button = li.querySelector('button');
  button.setAttribute('aria-label', `End sessions of ${name}`);
  onClick(button, () => endSessions(user.id, name));
  return li;
}

function link(li, name, href, label) {
  const a = li.querySelector(`[data-link=${name}]`);
  a.href = href;
  a.setAttribute('aria-label', label);
}

async function endSessions(id, name) {
  const title = `End all sessions of ${name}?`;
  const text = 'The user will be signed out everywhere.';
  if (!(await confirmed({ title, text, action: 'End sessions' }))) return;
  const { revoked } = await call('POST', `/auth/admin/users/${id}/revoke-sessions`);
  return `${name}: ${revoked === 1 ? '1 session' : `${revoked} sessions`} ended.`;
}

onSubmit(document.getElementById('new-user'), async ({ email, username }) => {
  const { user } = await call('POST', '/auth/admin/users', {
    ...(email && { email }),
    ...(username && { username }),
  });
  location.assign(`/users/${user.id}?created=1`);
});
