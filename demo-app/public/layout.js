import { onClick, signOut } from './actions.js';
import { takeFromAddress } from './page.js';

const root = document.documentElement;
const select = document.getElementById('theme');
select.value = getComputedStyle(root).colorScheme;
for (const part of [...select.labels, select]) part.hidden = false;
select.addEventListener('change', async () => {
  root.style.colorScheme = select.value;
  const body = new URLSearchParams({ theme: select.value });
  // If this fails, the theme applies to this page only.
  await fetch('/theme', { method: 'POST', body }).catch(() => {});
});

// The server has written into the page what `?error=` and `?done=` mean. They do not apply again after a reload.
const outcome = document.querySelector('.outcome');
if (outcome) for (const name of ['error', 'error_fields', 'done', 'ended']) takeFromAddress(name);
for (const message of outcome?.children ?? []) announce(message);

/** Screen readers announce only what changes. */
function announce(message) {
  const content = [...message.childNodes];
  message.replaceChildren();
  requestAnimationFrame(() => message.replaceChildren(...content));
}

const signOutButton = document.getElementById('sign-out');
if (signOutButton) {
  onClick(signOutButton, signOut);
  // The browser may bring back a page as it was, with the user's data, although the user has signed out since.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
}
