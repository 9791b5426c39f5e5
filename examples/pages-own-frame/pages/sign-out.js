import { html } from 'latchkey/pages';

/** Renders the content of the page `sign-out`, for the option `render` of `pages()`. */
export function signOut({ values, words }) {
  return mainOf(values, signOutView(values, words), words);
}

function signOutView(values, words) {
  const { form, account, home } = values;
  const t = words.signOut;
  return {
    title: 'Leave the kitchen?',
    main: html`${errorSummary(values, [form], words)}<p>The oven is still warm.</p><p>${t.question(account)}</p>${formOf(form, { submit: t.submit })}<p><a href="${home}">${t.stay}</a></p>`,
  };
}

/** Creates the list of what is wrong, which has the focus. */
function errorSummary({ error }, forms, words) {
  if (!error) return null;
  const fields = forms.flatMap((form) => Object.keys(form.errors).map((name) => [form, name]));
  return html`<div data-part="errors" role="alert" tabindex="-1" autofocus>
<h2>${words.errorHeading}</h2>
${fields.length === 0 && html`<p>${error.detail}</p>`}
${
  fields.length > 0 &&
  html`<ul>${fields.map(
    ([form, name]) => html`<li><a href="#${idOf(form, name)}">${labelOf(name)} ${form.errors[name]}</a></li>`,
  )}</ul>`
}
${error.resolve !== null && html`<p><a href="${error.resolve}">${words.refusal.resolve[error.code] ?? words.refusal.confirm}</a></p>`}
</div>`;
}

function idOf({ action, key = '' }, name) {
  // The actions of a page's forms differ in their ends, unless the forms have keys.
  return `${action.split('/').slice(-2).join('-')}-${key && `${key}-`}${name}`.replace(
    /[^A-Za-z0-9_-]/g,
    '-',
  );
}

/** Returns a name in words: `new_password` is "New password". */
function labelOf(name) {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Creates a form. */
function formOf(form, parts, inputs = null) {
  const { submit, kind = 'primary', about, returnTo } = parts;
  return html`<form method="post" action="${form.action}" data-part="form">
${hidden('return_to', returnTo)}${inputs}
<button data-part="button ${kind}">${submit}${about !== undefined && html`<span data-part="unseen"> ${about}</span>`}</button>
</form>`;
}

/** Creates a hidden input. Returns nothing for null. */
function hidden(name, value) {
  return value ? html`<input type="hidden" name="${name}" value="${value}">` : null;
}

/** The main part of a page, which scripts replace. */
function mainOf(values, view, words) {
  const { done } = values;
  // Anyone can put anything into the address, such as the name of a method of all objects.
  const said = done !== null && Object.hasOwn(words.done, done) ? words.done[done] : undefined;
  return html`<main id="main" data-part="main" data-page="${values.page}">
<h1>${view.title}</h1>
${said !== undefined && html`<p data-part="done" role="status">${said}</p>`}
${view.main}
</main>`;
}
