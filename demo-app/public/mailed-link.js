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
