import { call } from './api.js';
import { deviceOf } from './device.js';
import { showStatus } from './messages.js';
import { formatDate, formatSecond, nameOf, row } from './page.js';
import { paging } from './paging.js';

const PAGE_SIZE = 20;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const form = document.querySelector('.search');
const oneUser = document.getElementById('one-user');
const names = new Map();

paging(document.getElementById('events'), async (parameters) => {
  oneUser.hidden = true;
  const search = parameters.get('user')?.trim().toLowerCase();
  const { id, choices } = search ? await findUser(search) : { id: parameters.get('user_id') };
  if (choices) return { items: choices, nextCursor: null };

  const query = new URLSearchParams({ limit: PAGE_SIZE });
  if (id) query.set('user_id', id);
  for (const name of ['kind', 'cursor']) if (parameters.get(name)) query.set(name, parameters.get(name));
  const { events, next_cursor } = await call('GET', `/auth/admin/events?${query}`);
  const items = await Promise.all(events.map(item));
  if (id) {
    oneUser.querySelector('strong').textContent = await nameOfId(id);
    oneUser.hidden = false;
  }
  return { items, nextCursor: next_cursor };
});

/** The user with an email, a username or an id; or users to choose from, if none has exactly this one. */
async function findUser(search) {
  if (UUID.test(search)) return { id: search };
  const query = new URLSearchParams({ search });
  const { users, next_cursor } = await call('GET', `/auth/admin/users?${query}&limit=${PAGE_SIZE}`);
  const exact = users.find(({ email, username }) => email === search || username === search);
  // If there are more pages, the user with exactly this name may be on a later one.
  if (exact || (users.length === 1 && next_cursor === null)) return { id: (exact ?? users[0]).id };
  showStatus(users.length > 0 ? 'Several users match. Choose one.' : 'There is no such user.');
  const choices = users.map((user) =>
    choice(`/events?user_id=${user.id}`, nameOf(user), `Joined ${formatDate(user.created_at)}`),
  );
  if (next_cursor) choices.push(choice(`/users?${query}`, 'More users that match', ''));
  return { choices };
}

function choice(href, name, joined) {
  const li = row('choice', { name, joined });
  li.querySelector('a').href = href;
  return li;
}

async function item({ kind, user_id, ip_address, user_agent, details, created_at }) {
  const where = [ip_address, user_agent && deviceOf(user_agent)].filter(Boolean).join(' · ');
  const known = Object.entries(details).filter(([, value]) => value !== null);
  const more = await Promise.all(known.map(([name, value]) => inWords(name, value)));
  return row('event', {
    kind,
    user: user_id ? await nameOfId(user_id) : 'Unknown user',
    time: formatSecond(created_at),
    more: [where, ...more].filter(Boolean).join(' · '),
  });
}

/** One of the details that only some kinds of events have. The end of an id is enough to distinguish events. */
async function inWords(name, value) {
  if (name === 'admin_id') return `by ${await nameOfId(value)}`;
  if (name.endsWith('_id')) return `${name.slice(0, -3).replace('_', ' ')} …${value.slice(-6)}`;
  return `${name} ${value}`;
}

/** Events contain only ids, so that they stay correct when a name changes. */
function nameOfId(id) {
  if (!names.has(id)) {
    const name = call('GET', `/auth/admin/users/${id}`).then(
      ({ user }) => nameOf(user),
      () => 'A deleted user',
    );
    names.set(id, name);
  }
  return names.get(id);
}

// A new search replaces the user that a link has chosen.
form.addEventListener('formdata', ({ formData }) => {
  if (formData.get('user')) formData.delete('user_id');
});
