import { Problem } from './api.js';
import { clearMessages, goToSignIn, showProblem } from './page.js';

// Errors that concern one field, although the response does not name it.
const FIELD_OF_CODE = { email_taken: 'email', username_taken: 'username' };

/**
 * Submits a form by script, and shows the server's validation errors next to the fields. The button is disabled in the
 * HTML, because a click before this script has loaded would submit the form to a page that does not accept it.
 */
export function onSubmit(form, send) {
  const button = form.querySelector('[type=submit]');
  button.disabled = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    for (const field of form.querySelectorAll('[aria-invalid]')) setError(field, '');
    clearMessages();
    showProblem(null, form);
    button.disabled = true;
    try {
      await send(Object.fromEntries(new FormData(form)));
    } catch (problem) {
      show(form, problem);
    } finally {
      button.disabled = false;
    }
  });
}

/** Runs an action that needs the password in one field. If the password is wrong, the error is shown at that field. */
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
  else showProblem(problem, form);
}

function fieldErrorsOf(form, { code, message, errors = [] }) {
  if (code in FIELD_OF_CODE) return [{ field: form.elements[FIELD_OF_CODE[code]], text: message }];
  return errors
    .map(({ pointer, detail }) => ({ field: form.elements[pointer.slice(1)], detail }))
    .filter(({ field }) => field)
    .map(({ field, detail }) => ({ field, text: `${field.labels[0].textContent} ${detail}.` }));
}

function setError(field, text) {
  const error = document.getElementById(`${field.id}-error`);
  error.textContent = text;
  if (text) {
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-errormessage', error.id);
  } else {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-errormessage');
  }
}
