import { call } from './api.js';
import { onSubmit } from './form.js';
import { showStatus } from './messages.js';
import { keepNext, nextPage, takeFromAddress } from './page.js';
import { offerProviders } from './providers.js';

if (takeFromAddress('ended')) showStatus('Your session has ended. Sign in again.');

onSubmit(document.querySelector('form'), async ({ remember_me, ...credentials }) => {
  await call('POST', '/auth/signin/credential', { ...credentials, remember_me: remember_me === 'on' });
  location.assign(nextPage());
});
keepNext();
offerProviders();
