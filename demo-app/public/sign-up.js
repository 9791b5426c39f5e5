import { call } from './api.js';
import { onSubmit } from './form.js';
import { keepNext, nextPage } from './page.js';
import { offerProviders } from './providers.js';

onSubmit(document.querySelector('main form'), async ({ username, ...account }) => {
  await call('POST', '/auth/signup/credential', { ...account, ...(username && { username }) });
  location.assign(nextPage());
});
keepNext();
offerProviders();
