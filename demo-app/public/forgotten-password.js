import { call } from './api.js';
import { onSubmit } from './form.js';
import { showStatus } from './page.js';

onSubmit(document.querySelector('form'), async ({ email }) => {
  await call('POST', '/auth/passwords/request-reset', { email });
  // The server does not tell whether there is such an account, so neither can this page.
  showStatus('If there is an account with this email, a mail is on its way. Its link works for one hour.');
});
