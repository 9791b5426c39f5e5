import { call } from './api.js';
import { deviceOf } from './device.js';
import { formatSecond, row, showStatus } from './page.js';
import { paging } from './paging.js';

const PAGE_SIZE = 20;
const form = document.querySelector('.search');
const list = document.getElementById('events');
const address = new URLSearchParams(location.search);
const names = new Map();

form.elements.kind.value = address.get('kind') ?? '';

const showFirst = paging(async (cursor) => {
  const userId = await userOfForm();
  if (userId === null) {
    list.hidden = true;
    showStatus('There is no such user.');
    return null;
  }
  const query = new URLSearchParams({ limit: PAGE_SIZE });
  if (userId) query.set('user_id', userId);
  if (form.elements.kind.value) query.set('kind', form.elements.kind.value);
  if (cursor) query.set('cursor', cursor);
  const { events, next_cursor } = await call('GET', `/auth/admin/events?${query}`);
  list.replaceChildren(...(await Promise.all(events.map(item))));
  list.hidden = events.length === 0;
  showStatus(events.length === 0 ? 'No events found.' : '');
  return next_cursor;
});

/** The id of the user in the search form; empty for all users, null if there is no such user. */
async function userOfForm() {
  const search = form.elements.user.value.trim().toLowerCase();
  if (!search) return '';
  const { users } = await call('GET', `/auth/admin/users?${new URLSearchParams({ search })}`);
  const user = users.find(({ email, username }) => email === search || username === search);
  return (user ?? (users.length === 1 ? users[0] : null))?.id ?? null;
}

async function item({ kind, user_id, ip_address, user_agent, details, created_at }) {
  const where = [ip_address, user_agent && deviceOf(user_agent)].filter(Boolean).join(' · ');
  const known = Object.entries(details).filter(([, value]) => value !== null);
  const more = await Promise.all(known.map(([name, value]) => inWords(name, value)));
  return row('event', {
    kind,
    user: user_id ? await nameOf(user_id) : 'Unknown user',
    time: formatSecond(created_at),
    more: [where, ...more].filter(Boolean).join(' · '),
  });
}

/** One of the details that only some kinds of events have. The end of an id is enough to distinguish events. */
async function inWords(name, value) {
  if (name === 'admin_id') return `by ${await nameOf(value)}`;
  if (name.endsWith('_id')) return `${name.slice(0, -3).replace('_', ' ')} …${value.slice(-6)}`;
  return `${name} ${value}`;
}

/** Events contain only ids, so that they stay correct when a name changes. */
function nameOf(id) {
  if (!names.has(id)) {
    const name = call('GET', `/auth/admin/users/${id}`).then(
      ({ user }) => user.email ?? user.username ?? 'A user without a name',
      () => 'A deleted user',
    );
    names.set(id, name);
  }
  return names.get(id);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  showFirst();
});

/** The users page links here with an id. */
const id = address.get('user_id');
if (id) form.elements.user.value = await nameOf(id);
showFirst();
