import { goToSignIn, once } from './actions.js';
import { Problem } from './api.js';
import { clearMessages, showProblem, showStatus } from './messages.js';
import { offerToShowPasswords } from './show-password.js';

// Errors that concern one field, although the response does not name it.
const FIELD_OF_CODE = { email_taken: 'email', username_taken: 'username', invalid_code: 'code' };

// Where the browser goes after it has sent a form without this script.
const WITHOUT_SCRIPT = ['redirect_to', 'error_to', 'second_factor_to', 'confirm_to'];

/**
 * Submits a form by script. Shows the server's validation errors next to the fields, and what `send` returns next to the
 * button. A button is disabled in the HTML if its form does nothing without this script.
 */
export function onSubmit(form, send) {
  const button = form.querySelector('[type=submit]');
  const hidePasswords = offerToShowPasswords(form);
  button.disabled = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    hidePasswords();
    once(button, async () => {
      for (const field of form.querySelectorAll('[aria-invalid]')) setError(field, '');
      clearMessages();
      try {
        const fields = [...new FormData(form)].filter(([name]) => !WITHOUT_SCRIPT.includes(name));
        const done = await send(Object.fromEntries(fields));
        if (done) showStatus(done, button);
      } catch (problem) {
        show(form, problem);
      }
    });
  });
}

/** The hidden field that tells password managers whose password a form is about. It has no name, so it is not sent. */
export function nameAccount(form, name) {
  // The default value, so that it also stays when the form is reset.
  form.querySelector('[autocomplete=username]').defaultValue = name;
}

/** Runs an action that needs the password, or another proof, in one field. If it is wrong, the error is shown there. */
export async function ofPassword(field, act) {
  try {
    return await act();
  } catch (problem) {
    if (problem.code !== 'invalid_credentials') throw problem;
    throw new Problem({ ...problem, errors: [{ pointer: `/${field}`, detail: 'is wrong' }] });
  }
}

function show(form, problem) {
  const fieldErrors = fieldErrorsOf(form, problem);
  for (const { field, text } of fieldErrors) setError(field, text);
  if (fieldErrors.length > 0) fieldErrors[0].field.focus();
  else if (problem.isSignedOut) goToSignIn();
  else showProblem(problem, form.querySelector('[type=submit]'));
}

function fieldErrorsOf(form, { code, message, errors = [] }) {
  const concerned = form.elements[FIELD_OF_CODE[code]];
  if (concerned) return [{ field: concerned, text: message }];
  return errors
    .map(({ pointer, detail }) => ({ field: form.elements[pointer.slice(1)], detail }))
    .filter(({ field }) => field)
    .map(({ field, detail }) => ({ field, text: `${field.labels[0].textContent} ${detail}.` }));
}

/** The HTML refers to the error with `aria-describedby`, so that screen readers read it with the field. */
function setError(field, text) {
  document.getElementById(`${field.id}-error`).textContent = text;
  if (text) field.setAttribute('aria-invalid', 'true');
  else field.removeAttribute('aria-invalid');
}
