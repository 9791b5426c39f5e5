import { call } from './api.js';
import { formatDate, onClick, row, showStatus } from './page.js';
import { paging } from './paging.js';

const PAGE_SIZE = 10;
const form = document.querySelector('.search');
const list = document.getElementById('users');

const showFirst = paging(async (cursor) => {
  const query = new URLSearchParams({ limit: PAGE_SIZE });
  const search = form.elements.search.value.trim();
  if (search) query.set('search', search);
  if (cursor) query.set('cursor', cursor);
  const page = await call('GET', `/auth/admin/users?${query}`);
  list.replaceChildren(...page.users.map(item));
  list.hidden = page.users.length === 0;
  showStatus(page.users.length === 0 ? 'No users found.' : '');
  return page.next_cursor;
});

function item(user) {
  const name = user.email ?? user.username ?? 'a user without a name';
  const li = row('user', {
    email: user.email ?? 'No email',
    username: user.username ?? 'No username',
    joined: `Joined ${formatDate(user.created_at)}`,
  });
  li.querySelector('.badge').hidden = !user.email_verified_at;
  const events = li.querySelector('a');
  events.href = `/events?user_id=${user.id}`;
  events.setAttribute('aria-label', `Events of ${name}`);
  const button = li.querySelector('button');
  button.setAttribute('aria-label', `End the sessions of ${name}`);
  onClick(button, () => endSessions(user.id, name));
  return li;
}

async function endSessions(id, name) {
  const { revoked } = await call('POST', `/auth/admin/users/${id}/revoke-sessions`);
  const count = revoked === 1 ? '1 session' : `${revoked} sessions`;
  showStatus(`${name}: ${count} ended.`);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  showFirst();
});

showFirst();
