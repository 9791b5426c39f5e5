import { call } from './api.js';
import { nameAccount, onSubmit } from './form.js';
import { mailedToken, showDone } from './mailed-link.js';

const token = mailedToken();
const form = document.querySelector('main form');

// Known if the link was opened in the tab where it was requested. The token itself does not reveal the account.
nameAccount(form, sessionStorage.getItem('email') ?? '');
onSubmit(form, async ({ new_password }) => {
  await call('POST', '/auth/passwords/reset', { token, new_password });
  sessionStorage.removeItem('email');
  showDone();
});
