import { call } from './api.js';
import { ofPassword, onSubmit } from './form.js';
import { mailedToken, showDone } from './mailed-link.js';

const password = document.getElementById('with-password');
const token = mailedToken();

/**
 * By a button and not at once: programs open the links in mails too, to look for viruses. Without a session of that
 * account it takes the password: the mailbox alone does not say that the account was made by its owner.
 */
onSubmit(document.querySelector('form'), async (fields) => {
  try {
    await ofPassword('password', () =>
      call('POST', '/auth/verify-email', { token, ...(fields.password && { password: fields.password }) }),
    );
  } catch (problem) {
    if (!problem.isSignedOut) throw problem;
    password.hidden = false;
    password.querySelector('input').required = true;
    password.querySelector('input').focus();
    return;
  }
  showDone();
});
