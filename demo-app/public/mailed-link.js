import { ofPassword, onSubmit } from './form.js';
import { moveFocus } from './page.js';

// Shared code of the pages that links in emails lead to.
const form = document.querySelector('main form');

/** The token in the link. Without a token, the page shows a message instead of the form. */
export function mailedToken() {
  const token = new URLSearchParams(location.search).get('token') ?? '';
  if (!token) showInPlaceOfForm('incomplete');
  return token;
}

/** Replaces the form with the success message: the link has been used and works only once. */
export function showDone() {
  document.querySelector('.aside').hidden = true;
  showInPlaceOfForm('done');
}

function showInPlaceOfForm(id) {
  form.hidden = true;
  const section = document.getElementById(id);
  section.hidden = false;
  // The focus also makes screen readers read it.
  moveFocus(section.querySelector('h2'));
}

/**
 * Confirms an email address with the token of the link. The user must click a button, because virus scanners open the
 * links in emails too. Without a session of the account, the user must enter its password: access to the mailbox does not
 * prove that its owner created the account.
 *
 * @param confirm calls the route. Resolves to false if the user has cancelled
 */
export function confirmWithLink(confirm) {
  const withPassword = document.getElementById('with-password');
  const password = document.getElementById('password');
  const token = mailedToken();
  onSubmit(form, async (fields) => {
    try {
      const done = await ofPassword('password', () =>
        confirm({ token, ...(fields.password && { password: fields.password }) }),
      );
      if (done === false) return;
    } catch (problem) {
      if (!problem.isSignedOut) throw problem;
      withPassword.hidden = false;
      password.required = true;
      password.focus();
      return;
    }
    showDone();
  });
}
