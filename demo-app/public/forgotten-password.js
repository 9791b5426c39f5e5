import { call } from './api.js';
import { onSubmit } from './form.js';

onSubmit(document.querySelector('main form'), async ({ email }) => {
  await call('POST', '/auth/passwords/request-reset', { email });
  // For the page with the new password, where password managers need to know the account.
  sessionStorage.setItem('email', email);
  // The server does not reveal whether the account exists, so this page cannot know it either.
  return 'If there is an account with this email, we have sent a link to it. The link works for one hour.';
});
