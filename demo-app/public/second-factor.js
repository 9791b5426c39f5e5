import { onClick } from './actions.js';
import { call } from './api.js';
import { onSubmit } from './form.js';
import { keepNext, nextPage } from './page.js';
import { getPasskey, hasPasskeys } from './passkeys.js';

// Unknown after a sign-in at a provider. Then the server says if there is no passkey.
const methods = sessionStorage.getItem('methods')?.split(' ') ?? ['passkey'];

async function complete(answer) {
  await call('POST', '/auth/signin/second-factor', answer);
  sessionStorage.removeItem('methods');
  location.assign(nextPage());
}

for (const form of document.querySelectorAll('main form')) onSubmit(form, complete);
document.getElementById('with-passkey').hidden = !hasPasskeys || !methods.includes('passkey');
onClick(document.getElementById('passkey'), async () => {
  const { options } = await call('POST', '/auth/signin/second-factor/options', {});
  await complete({ method: 'passkey', response: await getPasskey(options) });
});
keepNext();
