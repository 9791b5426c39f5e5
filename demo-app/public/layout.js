import { call } from './api.js';
import { onClick } from './page.js';

const root = document.documentElement;
const select = document.getElementById('theme');
select.value = getComputedStyle(root).colorScheme;
select.addEventListener('change', async () => {
  root.style.colorScheme = select.value;
  await fetch('/theme', { method: 'POST', body: new URLSearchParams({ theme: select.value }) });
});

const signOut = document.getElementById('sign-out');
if (signOut) {
  onClick(signOut, async () => {
    await call('POST', '/auth/signout');
    location.assign('/');
  });
}
