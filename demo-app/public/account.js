import { onClick, signedIn } from './actions.js';
import { call } from './api.js';
import { confirmed } from './confirm.js';
import { nameAccount, ofPassword, onSubmit } from './form.js';
import { showStatus } from './messages.js';
import { formatDate, formatTime, moveFocus, save } from './page.js';
import { withFreshSignIn } from './reauthenticate.js';
import { waysInWords } from './ways.js';

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
  const methods = await call('GET', '/auth/sign-in-methods');
  // What was asked for earlier may be out of date, since the forms can be sent before it has come.
  if (load !== loads) return;
  byId('ways').textContent = waysInWords(methods);
  byId('profile-name').defaultValue = user.name ?? '';
  byId('profile-username').defaultValue = user.username ?? '';
  change.hidden = !methods.password;
  // To sign in with a password, the user also needs an email or a username.
  set.hidden = methods.password || !(user.email ?? user.username);
}

onClick(byId('send-again'), async () => {
  await call('POST', '/auth/email-verifications');
  return 'We have sent you a new link.';
});

onSubmit(change, async (passwords) => {
  const done = await withFreshSignIn(() =>
    ofPassword('current_password', () => call('POST', '/auth/passwords/change', passwords)),
  );
  if (!done) return '';
  change.reset();
  await load();
  return 'Your password has been changed. All your other sessions have ended.';
});

onSubmit(set, async (password) => {
  if (!(await withFreshSignIn(() => call('PUT', '/auth/passwords', password)))) return;
  set.reset();
  await load();
  // The form with the pressed button has given way to the one for changes.
  moveFocus(change.querySelector('h2'));
  showStatus('You can now also sign in with your password.', change);
});

onSubmit(byId('profile'), async ({ name, username }) => {
  // A username that stays the same is not sent: a new one is a change of how to sign in.
  const isNew = username && username !== byId('profile-username').defaultValue;
  const body = { name: name || null, ...(isNew && { username }) };
  if (!(await withFreshSignIn(() => call('PATCH', '/auth/me', body)))) return '';
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
  const done = await withFreshSignIn(async () => {
    const data = await call('GET', '/api/my-data');
    save('my-data.json', JSON.stringify(data, null, 2), 'application/json');
  });
  return done && 'Your data has been downloaded.';
});

byId('download').hidden = false;

await signedIn(load);
// The browser could not scroll there before, because the content was not there yet.
document.querySelector(':target')?.scrollIntoView();
