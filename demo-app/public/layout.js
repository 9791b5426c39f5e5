import { onClick } from './actions.js';
import { call } from './api.js';

const root = document.documentElement;
const select = document.getElementById('theme');
select.value = getComputedStyle(root).colorScheme;
select.addEventListener('change', async () => {
  root.style.colorScheme = select.value;
  const body = new URLSearchParams({ theme: select.value });
  // If this fails, the theme applies to this page only.
  await fetch('/theme', { method: 'POST', body }).catch(() => {});
});

const signOut = document.getElementById('sign-out');
if (signOut) {
  onClick(signOut, async () => {
    await call('POST', '/auth/signout');
    location.assign('/');
  });
  signOut.hidden = false;
  // The browser may bring back a page as it was, with the user's data, although the user has signed out since.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
}
