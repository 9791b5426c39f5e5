import { call } from './api.js';
import { onSubmit } from './form.js';
import { keepNext, nextPage, secondFactorPage } from './page.js';
import { inPlaceOfList, offerPasskeys } from './passkey-sign-in.js';
import { offerProviders } from './providers.js';

onSubmit(document.querySelector('main form'), ({ remember_me, ...credentials }) =>
  inPlaceOfList(async () => {
    const body = { ...credentials, remember_me: remember_me === 'on' };
    const { second_factor } = await call('POST', '/auth/signin/credential', body);
    location.assign(second_factor ? secondFactorPage(second_factor) : nextPage());
  }),
);
offerPasskeys(() => location.assign(nextPage()));
keepNext();
offerProviders();
