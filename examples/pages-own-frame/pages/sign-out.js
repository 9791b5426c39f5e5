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
    main: html`<p>The oven is still warm.</p><p>${t.question(account)}</p>${formOf(form, { submit: t.submit }, words)}<p><a href="${home}">${t.stay}</a></p>`,
  };
}

/** Creates a form, with its error above the fields if it was rejected. */
function formOf(form, parts, words, inputs = null) {
  const { submit, kind = 'primary', also, about, returnTo, downloads = false } = parts;
  return html`<form method="post" action="${form.action}" data-part="form"${downloads && html` data-downloads`}>
${form.refusal && errorBox(form.refusal, [form], words, drawnErrors(form).length === 0)}${hidden('return_to', returnTo)}${inputs}
<button data-part="button ${kind}">${submit}${about !== undefined && html`<span data-part="unseen"> ${about}</span>`}</button>${
    // The other form does not need all fields, so the server checks them.
    also &&
    html`\n<button data-part="button secondary" formaction="${also.action}" formnovalidate>${also.submit}</button>`
  }
</form>`;
}

function errorBox(error, forms, words, hasFocus) {
  const linked = new Map(forms.flatMap((form) => drawnErrors(form)));
  const texts = Object.entries(error.fields);
  return html`<div data-part="errors" role="alert"${hasFocus && html` tabindex="-1" autofocus`}>
<h2>${words.errorHeading}</h2>
${texts.length === 0 && html`<p>${error.detail}</p>`}
${
  texts.length > 0 &&
  html`<ul>${texts.map(([name, text]) => {
    const shown = linked.get(name);
    return shown
      ? html`<li><a href="#${shown.id}">${shown.label}: ${text}</a></li>`
      : html`<li>${name !== '' && `${labelOf(name)}: `}${text}</li>`;
  })}</ul>`
}
${error.steps.length > 0 && html`<p>${error.steps.map(({ name, href }) => html`<a href="${href}" data-takes>${words.steps[name]}</a> `)}</p>`}
</div>`;
}

/** Returns the fields with errors that have been drawn. */
function drawnErrors({ errors }) {
  return [...(fieldsByErrors.get(errors) ?? [])].filter(([name]) => errors[name] !== undefined);
}

/** The fields of a form that have been drawn, by their names. The errors identify the form, because copies share them. */
const fieldsByErrors = new WeakMap();

/** Returns a name in words: `new_password` is "New password". */
function labelOf(name) {
  const words = name.replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Creates a hidden input. Returns nothing for null. */
function hidden(name, value) {
  return value ? html`<input type="hidden" name="${name}" value="${value}">` : null;
}

/** The main part of a page, which scripts replace. */
function mainOf(values, view, words) {
  const { done } = values;
  // Look only at own keys, because the address can contain anything, such as the name of a method of all objects.
  const said = Object.entries(words.done).find(([name]) => name === done)?.[1];
  const needed = Object.entries(words.needed).find(([name]) => name === done)?.[1];
  return html`<main id="main" data-part="main" data-page="${values.page}">
${view.icon}<h1>${view.heading ?? view.title}</h1>
${said !== undefined && html`<p data-part="done" role="status">${said}</p>`}${
  needed !== undefined && html`<p data-part="warning" role="status">${needed}</p>`
}${errorSummary(values, words)}
${view.main}
</main>`;
}

/**
 * Creates the summary of a page's error, which has the focus. It is created after the fields of the page, whose labels it
 * repeats. Null if a form shows the error itself.
 */
function errorSummary(values, words) {
  const forms = formsIn(values);
  if (!values.error || forms.some(({ refusal }) => refusal !== null)) return null;
  return errorBox(values.error, forms, words, true);
}

/** Returns the forms among the values of a page or card. */
function formsIn(value) {
  if (typeof value !== 'object' || value === null) return [];
  const found = Object.values(value).flatMap(formsIn);
  return 'action' in value && 'errors' in value ? [value, ...found] : found;
}
