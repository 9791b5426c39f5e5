import { call } from './api.js';
import { onSubmit } from './form.js';
import { keepNext, nextPage, secondFactorPage } from './page.js';

async function confirm(proof) {
  const { second_factor, password_removed } = await call('POST', '/auth/signin/email/confirm', proof);
  const next = new URL(nextPage(), location.origin);
  // Like the redirect of the form without this script.
  if (password_removed) next.searchParams.set('password_removed', 'true');
  location.assign(second_factor ? secondFactorPage(second_factor) : next);
}

onSubmit(document.getElementById('ask'), async ({ email, remember_me }) => {
  await call('POST', '/auth/signin/email', { email, remember_me: remember_me === 'on' });
  document.getElementById('code').focus();
  return 'We have sent you an email with a code, which works for 10 minutes.';
});
for (const id of ['with-code', 'with-link']) onSubmit(document.getElementById(id), confirm);
keepNext();
