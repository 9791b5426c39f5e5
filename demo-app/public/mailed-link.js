// What the pages have in common that mailed links lead to.
const form = document.querySelector('form');

/** The token of the link. Without one the form would be of no use, and the page says so in its place. */
export function mailedToken() {
  const token = new URLSearchParams(location.search).get('token') ?? '';
  if (!token) showInPlaceOfForm('incomplete');
  return token;
}

/** The link has done what it is for, and works only once. */
export function showDone() {
  document.querySelector('.aside').hidden = true;
  showInPlaceOfForm('done');
}

function showInPlaceOfForm(id) {
  form.hidden = true;
  document.getElementById(id).hidden = false;
}
