import { onClick, signedIn } from './actions.js';
import { call } from './api.js';
import { confirmed } from './confirm.js';
import { nameAccount, ofPassword, onSubmit } from './form.js';
import { showStatus } from './messages.js';
import { formatDate, formatTime, moveFocus } from './page.js';
import { withFreshSignIn } from './reauthenticate.js';

const byId = (id) => document.getElementById(id);
const change = byId('change-password');
const set = byId('set-password');
const changeEmail = byId('change-email');

let loads = 0;

async function load() {
  loads += 1;
  const load = loads;
  const { user, session } = await call('GET', '/auth/me');
  const name = user.email ?? user.username ?? '';
  for (const form of document.querySelectorAll('form:has([autocomplete=username])')) nameAccount(form, name);
  const texts = {
    name: user.username ?? user.email ?? 'there',
    email: user.email ?? 'none',
    username: user.username ?? 'none',
    'full-name': user.name ?? 'none',
    'member-since': formatDate(user.created_at),
    'session-ends': formatTime(session.expires_at),
    hello: JSON.stringify(await call('GET', '/api/hello')),
  };
  for (const [id, text] of Object.entries(texts)) byId(id).textContent = text;
  byId('verified').hidden = !user.email_verified_at;
  byId('unverified').hidden = !user.email || user.email_verified_at !== null;
  const { password, providers } = await call('GET', '/auth/sign-in-methods');
  // What was asked for earlier may be out of date, since the forms can be sent before it has come.
  if (load !== loads) return;
  byId('ways').textContent = [...(password ? ['password'] : []), ...providers].join(', ');
  byId('profile-name').defaultValue = user.name ?? '';
  byId('profile-username').defaultValue = user.username ?? '';
  change.hidden = !password;
  // To sign in with a password, the user also needs an email or a username.
  set.hidden = password || !(user.email ?? user.username);
}

onClick(byId('send-again'), async () => {
  await call('POST', '/auth/email-verifications');
  return 'We have sent you a new link.';
});

onSubmit(change, async (passwords) => {
  await ofPassword('current_password', () => call('POST', '/auth/passwords/change', passwords));
  change.reset();
  await load();
  return 'Your password has been changed. All your other sessions have ended.';
});

onSubmit(set, async (password) => {
  await call('PUT', '/auth/passwords', password);
  set.reset();
  await load();
  // The form with the pressed button has given way to the one for changes.
  moveFocus(change.querySelector('h2'));
  showStatus('You can now also sign in with your password.', change);
});

onSubmit(byId('profile'), async ({ name, username }) => {
  await call('PATCH', '/auth/me', { name: name || null, ...(username && { username }) });
  await load();
  return 'Your name and username have been saved.';
});

onSubmit(changeEmail, async ({ new_email }) => {
  const done = await withFreshSignIn(() => call('POST', '/auth/email-changes', { new_email }));
  if (!done) return '';
  changeEmail.reset();
  return 'We have sent a link to the new address. It works for one hour.';
});

onClick(byId('close-account'), async () => {
  const agreed = await confirmed({
    title: 'Close your account?',
    text: 'Everything in it will be deleted. This cannot be undone.',
    action: 'Close my account',
  });
  if (agreed && (await withFreshSignIn(() => call('DELETE', '/auth/me'))))
    location.assign('/?done=account-closed');
});

onClick(byId('download'), async () => {
  const done = await withFreshSignIn(async () => save('my-data.json', await call('GET', '/api/my-data')));
  return done && 'Your data has been downloaded.';
});

byId('download').hidden = false;

function save(name, data) {
  const link = document.createElement('a');
  link.download = name;
  link.href = URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

await signedIn(load);
// The browser could not scroll there before, because the content was not there yet.
document.querySelector(':target')?.scrollIntoView();
