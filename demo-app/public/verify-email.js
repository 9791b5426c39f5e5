import { call } from './api.js';
import { ofPassword, onSubmit } from './form.js';
import { mailedToken, showDone } from './mailed-link.js';

const withPassword = document.getElementById('with-password');
const password = document.getElementById('password');
const token = mailedToken();

/**
 * The user must click a button, because virus scanners open the links in emails too. Without a session of the account,
 * the user must enter its password: access to the mailbox does not prove that its owner created the account.
 */
onSubmit(document.querySelector('main form'), async (fields) => {
  try {
    await ofPassword('password', () =>
      call('POST', '/auth/verify-email', { token, ...(fields.password && { password: fields.password }) }),
    );
  } catch (problem) {
    if (!problem.isSignedOut) throw problem;
    withPassword.hidden = false;
    password.required = true;
    password.focus();
    return;
  }
  showDone();
});
