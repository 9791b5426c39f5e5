import { call } from './api.js';
import { onSubmit } from './form.js';
import { keepNext, nextPage } from './page.js';
import { offerProviders } from './providers.js';

onSubmit(document.querySelector('main form'), async ({ remember_me, ...credentials }) => {
  await call('POST', '/auth/signin/credential', { ...credentials, remember_me: remember_me === 'on' });
  location.assign(nextPage());
});
keepNext();
offerProviders();
