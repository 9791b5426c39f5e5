import { onClick } from './actions.js';
import { call } from './api.js';
import { onSubmit } from './form.js';
import { keepNext, nextPage } from './page.js';
import { getPasskey, hasPasskeys } from './passkeys.js';

// Unknown after a sign-in at a provider. Then the server says if there is no passkey.
const methods = sessionStorage.getItem('methods')?.split(' ') ?? ['passkey'];

const byEmail = methods.includes('email_code');

async function complete(answer) {
  await call('POST', '/auth/signin/second-factor', answer);
  sessionStorage.removeItem('methods');
  location.assign(nextPage());
}

const sendAgain = document.getElementById('send-again');
for (const form of document.querySelectorAll('main form')) if (form !== sendAgain) onSubmit(form, complete);
onSubmit(sendAgain, async () => {
  await call('POST', '/auth/signin/second-factor/send', {});
  return 'We have sent you the code again.';
});
document.getElementById('with-email-code').hidden = !byEmail;
for (const id of ['with-code', 'without-phone']) document.getElementById(id).hidden = byEmail;
document.getElementById('with-passkey').hidden = !hasPasskeys || !methods.includes('passkey');
onClick(document.getElementById('passkey'), async () => {
  const { options } = await call('POST', '/auth/signin/second-factor/options', {});
  await complete({ method: 'passkey', response: await getPasskey(options) });
});
keepNext();
