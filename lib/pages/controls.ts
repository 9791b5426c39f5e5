import { type Html, type HtmlValue, html } from '../html.js';
import { type FixedRouteName, pathOf } from './routes.js';
import type { ErrorValues, FormValues } from './values.js';
import type { Words } from './words/index.js';

/** An input of a form. */
export interface Field {
  readonly name: string;
  readonly label: string;
  /** @default 'text' */
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'datetime-local';
  /** The token for password managers and autofill (HTML, 4.10.18.7). */
  readonly autocomplete: string;
  /** The value if nothing was typed. @default empty */
  readonly value?: string | null;
  readonly hint?: string | null;
  /** @default true */
  readonly required?: boolean;
  /** Whether the field has the focus when the page opens. @default false */
  readonly focus?: boolean;
  readonly inputmode?: 'numeric' | 'decimal';
  readonly maxLength?: number;
  /** Whether a number can have decimals, and a time can have seconds. @default false */
  readonly isExact?: boolean;
  /** Whether the field is a code, which is never corrected or capitalized. */
  readonly isCode?: boolean;
}

/** Creates a labeled input, with its error and the typed value. */
export function field(form: FormValues, of: Field, words: Words): Html {
  const { name, label, type = 'text', autocomplete, hint, required = true, focus, inputmode, maxLength } = of;
  const id = idOf(form, name);
  const error = form.errors[name];
  // A secret is never sent back.
  const value = type === 'password' ? null : (form.typed[name] ?? of.value);
  return html`<div data-part="field">
<label for="${id}">${label}${!required && html` <small>(${words.optional})</small>`}</label>
${hint && html`<p data-part="hint" id="${id}-hint">${hint}</p>`}
${error !== undefined && html`<p data-part="error" id="${id}-error">${label} ${error}</p>`}
<input id="${id}" name="${name}" type="${type}" autocomplete="${autocomplete}"${value && html` value="${value}"`}${
    required && html` required`
  }${maxLength !== undefined && html` maxlength="${maxLength}"`}${inputmode && html` inputmode="${inputmode}"`}${of.isExact && html` step="any"`}${
    (of.isCode || type !== 'text') && html` autocapitalize="none" spellcheck="false"`
  }${focus && !form.hasNoFocus && html` autofocus`}${describedBy(id, hint, error)}>
</div>`;
}

function describedBy(id: string, hint: string | null | undefined, error: string | undefined): HtmlValue {
  const ids = [hint ? `${id}-hint` : '', error === undefined ? '' : `${id}-error`].filter(
    (one) => one !== '',
  );
  return [
    ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`,
    error !== undefined && html` aria-invalid="true"`,
  ];
}

/** A choice of a form. */
export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly value?: string | null;
}

/** Creates a list of options. */
export function choice(form: FormValues, { name, label, options, value }: Choice): Html {
  const id = idOf(form, name);
  const chosen = form.typed[name] ?? value ?? '';
  const error = form.errors[name];
  return html`<div data-part="field">
<label for="${id}">${label}</label>
${error !== undefined && html`<p data-part="error" id="${id}-error">${label} ${error}</p>`}
<select id="${id}" name="${name}"${describedBy(id, null, error)}>
${options.map((one) => html`<option value="${one.value}"${one.value === chosen && html` selected`}>${one.label}</option>`)}
</select>
</div>`;
}

/** Creates a checkbox. */
export function checkbox(form: FormValues, name: string, label: string): Html {
  const id = idOf(form, name);
  const isOn = form.typed[name] === 'true' || form.typed[name] === 'on';
  return html`<div data-part="checkbox"><input id="${id}" name="${name}" type="checkbox" value="true"${
    isOn && html` checked`
  }><label for="${id}">${label}</label></div>`;
}

/** Creates a hidden input. Returns nothing for null. */
export function hidden(name: string, value: string | null | undefined): HtmlValue {
  return value ? html`<input type="hidden" name="${name}" value="${value}">` : null;
}

/** Creates a hidden field that shows password managers which account a password is for. */
export function usernameOf(account: string | null): HtmlValue {
  return (
    account !== null && html`<input type="text" hidden readonly autocomplete="username" value="${account}">`
  );
}

/** The parts of a form other than its inputs. */
export interface FormContent {
  readonly submit: string;
  /** The emphasis of the button. @default 'primary' */
  readonly kind?: 'primary' | 'secondary' | 'danger' | 'link';
  /** Distinguishes forms with equal buttons, for screen readers. */
  readonly about?: HtmlValue;
  readonly returnTo?: string | null;
  /** Whether the response is a file, which only the browser itself can save. @default false */
  readonly downloads?: boolean;
}

/** Creates a form. */
export function formOf(form: FormValues, parts: FormContent, inputs: HtmlValue = null): Html {
  const { submit, kind = 'primary', about, returnTo, downloads = false } = parts;
  return html`<form method="post" action="${form.action}" data-part="form"${downloads && html` data-downloads`}>
${hidden('return_to', returnTo)}${inputs}
<button data-part="button ${kind}">${submit}${about !== undefined && html`<span data-part="unseen"> ${about}</span>`}</button>
</form>`;
}

/** A button whose script asks the browser for a passkey. */
export interface PasskeyButton {
  readonly kind: 'create' | 'sign-in' | 'second-factor' | 'reauthenticate' | 'undo';
  /** The route that returns the options for the browser. */
  readonly options: FixedRouteName;
  /** The route that gets the response of the browser. */
  readonly send: FixedRouteName;
  /** The field of the response in the body. @default 'response' */
  readonly field?: string;
  /** The other fields of the body. @default none */
  readonly body?: object;
  /** The page that the browser opens afterwards. */
  readonly next: string;
  /** @default false */
  readonly isPrimary?: boolean;
  /** More attributes. */
  readonly more?: HtmlValue;
}

/** Creates a button that asks the browser for a passkey. Its script shows it in browsers that have passkeys. */
export function passkeyButton(mount: string, button: PasskeyButton, label: HtmlValue): Html {
  const { kind, options, send, field, body, next, isPrimary = false, more } = button;
  return html`<button type="button" hidden data-part="button ${isPrimary ? 'primary' : 'secondary'}" data-passkey data-kind="${kind}" data-options="${mount}${pathOf(options)}" data-send="${mount}${pathOf(send)}"${
    field !== undefined && html` data-field="${field}"`
  }${body && html` data-body="${JSON.stringify(body)}"`} data-go="${next}"${more}>${label}</button>`;
}

/** Creates the list of errors, which has the focus. */
export function errorSummary(
  { error }: { readonly error: ErrorValues | null },
  forms: readonly FormValues[],
  words: Words,
): HtmlValue {
  if (!error) return null;
  const fields = forms.flatMap((form) => Object.keys(form.errors).map((name) => [form, name] as const));
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

/** Creates the line between two alternatives. */
export function orLine(words: Words): Html {
  return html`<p data-part="or">${words.or}</p>`;
}

/** Returns a name in words: `new_password` is "New password". */
export function labelOf(name: string): string {
  const words = name.replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function idOf({ action, key = '' }: FormValues, name: string): string {
  // The actions of a page's forms differ in their ends, unless the forms have keys.
  return `${action.split('/').slice(-2).join('-')}-${key && `${key}-`}${name}`.replace(
    /[^A-Za-z0-9_-]/g,
    '-',
  );
}
