import { Problem } from './api.js';
import { clearMessages, goToSignIn, showProblem } from './page.js';

// Problems that are about one field, though the answer names none.
const FIELD_OF_CODE = { email_taken: 'email', username_taken: 'username' };

/**
 * Sends a form by script, and shows next to each field what the server says is wrong with it. Its button is disabled in
 * the HTML: pressed before this script is here, it would send the form to a page that does not take it.
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

/** Runs what the password of one field must be right for. A wrong one is then said to be that field's fault. */
export async function ofPassword(field, act) {
  try {
    return await act();
  } catch (problem) {
    if (problem.code !== 'invalid_credentials') throw problem;
    throw new Problem({ ...problem, errors: [{ pointer: `/${field}`, detail: 'is wrong' }] });
  }
}

function show(form, problem) {
  const complaints = fieldComplaints(form, problem);
  for (const { field, text } of complaints) setError(field, text);
  if (complaints.length > 0) complaints[0].field.focus();
  else if (problem.isSignedOut) goToSignIn();
  else showProblem(problem, form);
}

function fieldComplaints(form, { code, message, errors = [] }) {
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
