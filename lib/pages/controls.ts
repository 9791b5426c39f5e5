import { type Html, type HtmlValue, html } from '../html.js';
import type { Words } from '../words/pages/index.js';
import type { CodeForm } from './codes.js';
import { humanBox } from './human.js';
import { type FixedRouteName, pathOf } from './routes.js';
import type { CommonValues, ErrorValues, FormValues } from './values.js';

/** An input of a form. */
export interface Field {
  readonly name: string;
  readonly label: string;
  /** The label with its markup. @default the label */
  readonly shown?: Html;
  /** @default 'text' */
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'datetime-local';
  /** The token for password managers and autofill (HTML, 4.10.18.7). */
  readonly autocomplete: string;
  /** The value if nothing was typed. @default empty */
  readonly value?: string | null;
  readonly hint?: string | Html | null;
  /** @default true */
  readonly required?: boolean;
  /** Whether the label does not say that the field is optional, because the hint says what else is possible. @default false */
  readonly hideOptional?: boolean;
  /** Whether the field has the focus when the page opens. @default false */
  readonly focus?: boolean;
  readonly inputmode?: 'numeric' | 'decimal';
  readonly maxLength?: number;
  /** The minimum number of characters of a new password, for password managers. The browser does not check it, because its words are not the words of the page. */
  readonly minLength?: number;
  /** Whether a number can have decimals, and a time can have seconds. @default false */
  readonly isExact?: boolean;
  /** Whether the field is never corrected or capitalized, such as a username. */
  readonly isCode?: boolean;
  /** The form of the code that is entered. A complete code is sent by a script. @default not a code, or one of any form */
  readonly code?: CodeForm;
  /** What stands at the end of the label's line. It follows the input in the order of the keyboard. @default nothing */
  readonly aside?: HtmlValue;
}

/** Creates a labeled input, with its error and the typed value. */
export function field(form: FormValues, of: Field, words: Words): Html {
  const { name, label, type = 'text', autocomplete, required = true, maxLength, minLength, code } = of;
  const inputmode = code?.isNumeric ? 'numeric' : of.inputmode;
  const id = idOf(form, name);
  const error = form.errors[name];
  const isFocused = hasFocus(form, of);
  setDrawn(form, name, { id, label });
  const isLost = type === 'password' && required && error === undefined && form.given?.includes(name);
  const hint = isLost ? html`${words.passwordAgain}${of.hint && html` ${of.hint}`}` : of.hint;
  // A secret is never sent back.
  const value = type === 'password' ? null : (form.typed[name] ?? of.value);
  const isSent = type === 'password' || code !== undefined;
  const input = html`<input id="${id}" name="${name}" type="${type}" autocomplete="${autocomplete}"${value && html` value="${value}"`}${
    required && html` required`
  }${maxLength !== undefined && html` maxlength="${maxLength}"`}${
    minLength !== undefined && html` passwordrules="minlength: ${minLength}"`
  }${inputmode && html` inputmode="${inputmode}"`}${of.isExact && html` step="any"`}${
    (of.isCode || code || type !== 'text') &&
    html` autocapitalize="${code && !code.isNumeric ? 'characters' : 'none'}" spellcheck="false"`
  }${code && html` data-part="code" data-length="${code.length}"`}${isSent && html` enterkeyhint="go"`}${isFocused && html` autofocus`}${isFocused && of.value && html` data-selects`}${describedBy(id, hint, error, isFocused && form.focuses === name ? idOf(form, 'refused') : null)}>`;
  return html`<div data-part="field">
<label for="${id}">${of.shown ?? label}${!required && !of.hideOptional && optional(words)}</label>
${hintOf(id, hint)}
${errorOf(form, id, error)}
${type === 'password' ? html`<div data-part="password">${input}</div>` : input}
${of.aside && html`<p data-part="aside">${of.aside}</p>`}
</div>`;
}

function hintOf(id: string, hint: string | Html | null | undefined): HtmlValue {
  return hint && html`<p data-part="hint" id="${id}-hint">${hint}</p>`;
}

function optional(words: Words): Html {
  return html` <small>(${words.optional})</small>`;
}

/** Creates the error of a field. It is announced if its form has no summary, which would say the same. */
function errorOf(form: FormValues, id: string, error: string | undefined): HtmlValue {
  const isAnnounced = form.refusal !== null && form.refusal.steps.length === 0;
  return (
    error !== undefined &&
    html`<p data-part="error" id="${id}-error"${isAnnounced && html` role="alert"`}>${error}</p>`
  );
}

/** The fields of a form that have been drawn, by their names. The errors identify the form, because copies share them. */
const fieldsByErrors = new WeakMap<FormValues['errors'], Map<string, Drawn>>();

interface Drawn {
  readonly id: string;
  readonly label: string;
}

function setDrawn({ errors }: FormValues, name: string, as: Drawn): void {
  fieldsByErrors.set(errors, (fieldsByErrors.get(errors) ?? new Map()).set(name, as));
}

/** Returns the fields with errors that have been drawn. */
function drawnErrors({ errors }: FormValues): readonly (readonly [name: string, as: Drawn])[] {
  return [...(fieldsByErrors.get(errors) ?? [])].filter(([name]) => errors[name] !== undefined);
}

/** Whether a field has the focus: on pages with several forms, the first field with an error. */
function hasFocus(form: FormValues, { name, focus = false }: Pick<Field, 'name' | 'focus'>): boolean {
  if (form.refusal && form.focuses !== undefined) return form.focuses === name;
  if (form.refusal) return form.errors[name] !== undefined && drawnErrors(form).length === 0;
  return focus && !form.hasNoFocus;
}

/** @param box the id of the error above the fields, if it is read with this field */
function describedBy(
  id: string,
  hint: string | Html | null | undefined,
  error: string | undefined,
  box: string | null = null,
): HtmlValue {
  const ids = [box ?? '', hint ? `${id}-hint` : '', error === undefined ? '' : `${id}-error`].filter(
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
  readonly hint?: string | null;
  /** @default true */
  readonly required?: boolean;
}

/** Creates a list of options. */
export function choice(form: FormValues, of: Choice, words: Words): Html {
  const { name, label, options, value, hint, required = true } = of;
  const id = idOf(form, name);
  const chosen = form.typed[name] ?? value ?? '';
  const error = form.errors[name];
  const isFocused = hasFocus(form, { name });
  setDrawn(form, name, { id, label });
  return html`<div data-part="field">
<label for="${id}">${label}${!required && optional(words)}</label>
${hintOf(id, hint)}
${errorOf(form, id, error)}
<select id="${id}" name="${name}"${isFocused && html` autofocus`}${describedBy(id, hint, error)}>
${options.map((one) => html`<option value="${one.value}"${one.value === chosen && html` selected`}>${one.label}</option>`)}
</select>
</div>`;
}

/** Several checkboxes, whose values are sent in fields of the same name, beside the choice of everything. */
export interface Selection extends Omit<Choice, 'value' | 'hint' | 'required'> {
  /** The radio buttons: their name, and the labels of their values `some` and `all`. */
  readonly radio: { readonly name: string; readonly some: string; readonly all: string };
  /** What it means to choose everything. */
  readonly warning: string;
}

/** Creates a choice between some checkboxes and everything. Some are chosen by default, so that everything is never a mistake. */
export function selection(form: FormValues, { name, label, options, radio, warning }: Selection): Html {
  const id = idOf(form, name);
  const chosen = (form.typed[name] ?? '').split(/\s+/);
  const isAll = form.typed[radio.name] === 'all';
  const error = form.errors[name];
  const isFocused = hasFocus(form, { name });
  setDrawn(form, name, { id: `${id}-0`, label });
  const radioOf = (value: 'some' | 'all', isChecked: boolean, more: HtmlValue = null) =>
    html`<div data-part="checkbox"><input id="${id}-${value}" name="${radio.name}" type="radio" value="${value}"${
      isChecked && html` checked`
    }${more}><label for="${id}-${value}">${radio[value]}</label></div>`;
  return html`<fieldset data-part="field"${error !== undefined && html` aria-describedby="${id}-error"`}><legend>${label}</legend>
${errorOf(form, id, error)}
${radioOf('some', !isAll)}
<div data-part="options">${options.map(
    ({ value, label: text }, index) =>
      html`<div data-part="checkbox"><input id="${id}-${index}" name="${name}" type="checkbox" value="${value}"${
        chosen.includes(value) && html` checked`
      }${isFocused && index === 0 && html` autofocus`}${error !== undefined && html` aria-invalid="true"`}><label for="${id}-${index}">${text}</label></div>`,
  )}</div>
${radioOf('all', isAll, html` aria-describedby="${id}-hint"`)}
<p data-part="warning" id="${id}-hint">${warning}</p>
</fieldset>`;
}

/** Several checkboxes, whose values are sent in fields of the same name. */
export interface Checkboxes extends Pick<Choice, 'name' | 'label' | 'hint'> {
  readonly options: readonly {
    readonly value: string;
    readonly label: string;
    /** Whether it is checked if nothing was sent yet. */
    readonly isOn: boolean;
    /** Whether the user cannot change it. */
    readonly isFixed: boolean;
  }[];
}

/** Creates several checkboxes. The value of one that is fixed is sent as it is. */
export function checkboxes(form: FormValues, { name, label, hint, options }: Checkboxes): Html {
  const id = idOf(form, name);
  const typed = form.refusal ? (form.typed[name] ?? '').split(/\s+/) : null;
  const error = form.errors[name];
  const isFocused = hasFocus(form, { name });
  // An error leads to the first box that the user can change.
  const first = options.findIndex(({ isFixed }) => !isFixed);
  setDrawn(form, name, { id: `${id}-${Math.max(0, first)}`, label });
  return html`<fieldset data-part="field"${describedBy(id, hint, undefined)}><legend>${label}</legend>
${hintOf(id, hint)}
${errorOf(form, id, error)}
${options.map(({ value, label: text, isOn, isFixed }, index) => {
  const isChecked = isFixed || !typed ? isOn : typed.includes(value);
  return html`<div data-part="checkbox">${isFixed && isOn && hidden(name, value)}<input id="${id}-${index}"${
    isFixed ? html` disabled` : html` name="${name}"`
  } type="checkbox" value="${value}"${isChecked && html` checked`}${
    index === first && [isFocused && html` autofocus`, describedBy(id, null, error)]
  }><label for="${id}-${index}">${text}</label></div>`;
})}
</fieldset>`;
}

/** Stands for the text to type. */
const PLACE = '\u0001';

/** Creates the field in which the user types a text before something is done that cannot be undone. */
export function confirmationField(form: FormValues, expected: string | null, words: Words): Html {
  const [before = '', after = ''] = words.confirmation.label(PLACE).split(PLACE);
  // The text must be read as it has to be typed, so it does not break.
  const text = expected ?? words.confirmation.word;
  const shown = html`${before}<strong>${text}</strong>${after}`;
  const label = words.confirmation.label(text);
  return field(form, { name: 'confirmation', label, shown, autocomplete: 'off', isCode: true }, words);
}

/** Creates a checkbox. @param isOn whether it is checked if nothing was sent yet. @default false */
export function checkbox(
  form: FormValues,
  name: string,
  label: string,
  isOn = false,
  hint: string | null = null,
): Html {
  const id = idOf(form, name);
  const typed = form.typed[name];
  const isChecked = typed === undefined ? isOn : typed === 'true' || typed === 'on';
  const error = form.errors[name];
  const isFocused = hasFocus(form, { name });
  setDrawn(form, name, { id, label });
  return html`${errorOf(form, id, error)}<div data-part="checkbox"><input id="${id}" name="${name}" type="checkbox" value="true"${
    isChecked && html` checked`
  }${isFocused && html` autofocus`}${describedBy(id, hint, error)}><label for="${id}">${label}</label></div>${hintOf(id, hint)}`;
}

/** Creates the link that stands beside the label of a password. */
export function forgottenLink(forgotPassword: string | null, words: Words): HtmlValue {
  return (
    forgotPassword !== null && html`<a href="${forgotPassword}" data-takes>${words.signIn.forgotten}</a>`
  );
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
  /** A second button, which sends the fields to another form of the page. @default none */
  readonly also?: {
    readonly submit: HtmlValue;
    readonly form: FormValues;
    readonly hint?: string;
  } | null;
  /** Distinguishes forms with equal buttons, for screen readers. */
  readonly about?: HtmlValue;
  /** Whether the button answers a question. @default false */
  readonly isAnswer?: boolean;
  readonly returnTo?: string | null;
  /** Whether the response is a file, which only the browser itself can save. @default false */
  readonly downloads?: boolean;
}

/** The field with the id of the user to whom a form of an account was shown. */
export const FOR_USER = 'for_user';

/** Creates a form, with its error above the fields if it was rejected and not every error stands beside a field. */
export function formOf(form: FormValues, parts: FormContent, words: Words, inputs: HtmlValue = null): Html {
  const { submit, kind = 'primary', also, about, isAnswer = false, returnTo, downloads = false } = parts;
  const again = isPressedAgain(form);
  const id = idOf(form, 'press');
  if (again) pressedByErrors.set(form.errors, { id, label: submit });
  const showsBox = form.refusal !== null && !isBesideFields(form, form.refusal);
  if (form.refusal) told.add(form.refusal);
  // The words of the page say what is missing, and not those of the browser.
  return html`<form method="post" action="${form.action}" data-part="form" novalidate${downloads && html` data-downloads`}${form.resumed === 'sent' && html` data-resumes`}>
${again && html`<p data-part="hint" id="${id}-hint">${words.pressAgain}</p>`}${showsBox && form.refusal && errorBox(form.refusal, [form], words, drawnErrors(form).length === 0 && form.focuses === undefined, form.focuses === undefined ? null : idOf(form, 'refused'))}${hidden('return_to', returnTo)}${hidden(FOR_USER, form.user)}${inputs}${humanBox([form, also?.form], words)}
<button${again && html` id="${id}"`} data-part="button ${kind}"${again && html` autofocus aria-describedby="${id}-hint"`}>${about === undefined ? submit : spoken(submit, about, isAnswer ? words.answerOf : words.actionOf)}</button>${
    also &&
    html`\n<button data-part="button secondary" formaction="${also.form.action}"${also.hint && html` aria-describedby="${id}-also"`}>${also.submit}</button>${also.hint && html`\n<p data-part="hint" id="${id}-also">${also.hint}</p>`}`
  }
</form>`;
}

/** The buttons that have been drawn and have to be pressed again. The errors identify the form. */
const pressedByErrors = new WeakMap<FormValues['errors'], Drawn>();

/** Whether the user has confirmed who it is since the form was sent, so that its button has to be pressed again. */
function isPressedAgain({ resumed }: FormValues): boolean {
  return resumed !== undefined && resumed !== 'kept';
}

/**
 * Creates the notice that a button has to be pressed again, which leads to the button. It is created after the forms of the
 * page. Null if there is no such button.
 */
export function pressAgainNotice(values: CommonValues, words: Words): HtmlValue {
  const [button] = formsIn(values).flatMap(({ errors }) => pressedByErrors.get(errors) ?? []);
  if (!button) return null;
  return html`<p data-part="warning" role="status">${words.confirmed(html`<a href="#${button.id}">${button.label}</a>`)}</p>`;
}

/** The errors that a form has shown. */
const told = new WeakSet<ErrorValues>();

/** Whether the fields of a form show all of its error, so that a summary above them would only repeat it. */
function isBesideFields(form: FormValues, { fields, steps }: ErrorValues): boolean {
  const count = Object.keys(fields).length;
  return steps.length === 0 && count > 0 && drawnErrors(form).length === count;
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

/**
 * Creates the summary of a page's error, which has the focus. It is created after the fields of the page, to which it
 * leads. Null if a form has shown the error itself.
 */
export function errorSummary(values: CommonValues, words: Words): HtmlValue {
  if (!values.error) return null;
  const forms = formsIn(values);
  if (forms.some(({ refusal }) => refusal !== null && told.has(refusal))) return null;
  return errorBox(values.error, forms, words, true);
}

/** The code after the user has canceled at a provider. */
export const CANCELED = 'access_denied';

function errorBox(
  error: ErrorValues,
  forms: readonly FormValues[],
  words: Words,
  hasFocus: boolean,
  id: string | null = null,
): Html {
  // What the user has decided is no problem.
  if (error.code === CANCELED)
    return html`<p data-part="warning" role="status"${hasFocus && html` tabindex="-1" autofocus`}>${error.detail}</p>`;
  const linked = new Map(forms.flatMap((form) => drawnErrors(form)));
  const texts = Object.entries(error.fields);
  return html`<div data-part="errors" role="alert"${id !== null && html` id="${id}"`}${hasFocus && html` tabindex="-1" autofocus`}>
<h2>${words.errorHeading}</h2>
${texts.length === 0 && html`<p>${error.detail}</p>`}
${
  texts.length > 0 &&
  html`<ul>${texts.map(([name, text]) => {
    const shown = linked.get(name);
    // A sentence that names the field needs no label.
    const isWhole = text === error.detail || Object.values(words.missing).includes(text);
    const said =
      isWhole || name === '' ? text : words.labeled(shown?.label ?? words.ofApp(labelOf(name)), text);
    return shown ? html`<li><a href="#${shown.id}">${said}</a></li>` : html`<li>${said}</li>`;
  })}</ul>`
}
${error.steps.length > 0 && html`<p>${error.steps.map(({ name, href }) => html`<a href="${href}" data-takes>${words.steps[name]}</a> `)}</p>`}
</div>`;
}

/** Returns the forms among the values of a page or card. */
export function formsIn(value: unknown): FormValues[] {
  if (typeof value !== 'object' || value === null) return [];
  const found = Object.values(value).flatMap(formsIn);
  return 'action' in value && 'errors' in value ? [value as FormValues, ...found] : found;
}

/** A part of a page that is closed until the user opens it, unless one of its forms was rejected. */
export interface Disclosure {
  readonly label: HtmlValue;
  /** Distinguishes parts with equal labels, for screen readers. */
  readonly about?: string;
  /** The forms in it. */
  readonly forms: readonly FormValues[];
  /** @default false */
  readonly isOpen?: boolean;
  /** `alternative` is another way to do the same, and looks like a link. All others are buttons. @default 'secondary' */
  readonly kind?: 'secondary' | 'danger' | 'alternative';
  /** The word of the button that closes it. @default "Close" */
  readonly closes?: string;
}

/** Creates a part of a page that the user opens, and closes at the same place. */
export function disclosure(of: Disclosure, content: HtmlValue, words: Words): Html {
  const { label, about, forms, isOpen = false, kind = 'secondary', closes = words.close } = of;
  const opens = isOpen || forms.some(({ isRefused, resumed }) => isRefused || resumed !== undefined);
  return html`<details${opens && html` open`}><summary${kind !== 'alternative' && html` data-part="button ${kind}"`}>${
    kind === 'alternative'
      ? label
      : html`<span data-part="opens">${about === undefined ? label : spoken(label, about, words.actionOf)}</span><span data-part="closes">${closes}${typeof label === 'string' && html`<span data-part="unseen">${words.ofClose(actionOf(label, about, words))}</span>`}</span>`
  }</summary>${content}</details>`;
}

/** Returns what a part is for, such as "Delete my account". */
/**
 * Creates the words of a button, with what it is about for screen readers.
 *
 * @param join puts both into one text. In some languages, the button does not come first
 */
function spoken(action: HtmlValue, about: HtmlValue, join: (action: string, about: string) => string): Html {
  const isText = typeof action === 'string' && typeof about === 'string';
  const whole = isText ? join(action, about) : undefined;
  if (isText && !whole?.startsWith(action))
    return html`<span aria-hidden="true">${action}</span><span data-part="unseen">${whole}</span>`;
  const rest = isText && whole !== undefined ? whole.slice(action.length) : html` ${about}`;
  return html`${action}<span data-part="unseen">${rest}</span>`;
}

function actionOf(label: string, about: string | undefined, words: Words): string {
  return about === undefined ? label : words.actionOf(label, about);
}

/** Creates a part that shows a line, and opens beside it. */
export function closed(line: Html, opener: Html): Html {
  return html`<div data-part="closed"><div>
${line}</div>
${opener}</div>`;
}

/** A question before something that cannot be taken back with one press. */
export interface Question extends Omit<Disclosure, 'label' | 'forms' | 'kind' | 'isOpen' | 'closes'> {
  /** With {@link Disclosure.about}, it is also the heading of the question, unless the heading above says the same. */
  readonly label: string;
  /** What follows from it. @default nothing, because the line beside the button says it */
  readonly text?: HtmlValue;
  /** The words of the button that answers it, such as "Yes, revoke". */
  readonly submit: string;
  readonly form: FormValues;
  /** What the user types first. @default nothing */
  readonly inputs?: HtmlValue;
  /** `secondary` if what is ended can be started again. @default 'danger' */
  readonly kind?: 'secondary' | 'danger';
  /** The heading of the part of the page that asks the question. @default another one */
  readonly below?: string;
}

/**
 * Creates a button that opens a question: what follows, and a button that says yes.
 *
 * @param draw creates the form, if it asks for more
 */
export function question(
  of: Question,
  words: Words,
  draw: (content: FormContent, inputs: HtmlValue) => Html = (content, inputs) =>
    formOf(of.form, content, words, inputs),
): Html {
  const { label, about, text, submit, form, inputs = null, kind = 'danger', below } = of;
  const heading = actionOf(label, about, words);
  const content = { submit, kind: 'danger', isAnswer: true, ...(about !== undefined && { about }) } as const;
  return disclosure(
    { label, kind, forms: [form], closes: words.cancel, ...(about !== undefined && { about }) },
    html`${heading !== below && html`<h2>${heading}</h2>`}${text && html`<p>${text}</p>`}${draw(content, inputs)}`,
    words,
  );
}

/**
 * Creates the sentence that says where an email was sent. It is another one after the user has asked for another email.
 *
 * @param email the address. Null if it is not known
 * @param isCertain whether the address gets an email, whatever account it has
 */
export function sentText(
  text: HtmlValue,
  { email, isCertain }: { readonly email: string | null; readonly isCertain: boolean },
  { done }: Pick<CommonValues, 'done'>,
  words: Words,
): Html {
  if (done !== SENT_AGAIN || email === null) return html`<p>${text}</p>`;
  return html`<p data-part="done" role="status">${words.sentAgain(html`<strong>${email}</strong>`, isCertain)}</p>`;
}

/** The field of a form that emails something once more, and the message afterwards. */
export const AGAIN = 'again';
const SENT_AGAIN = 'sent-again';

/** Returns the message of a form that emails something, for the first time or once more. */
export function sentOf(fields: ReadonlyMap<string, string>): string {
  return fields.has(AGAIN) ? SENT_AGAIN : 'sent';
}

/** Creates the link to the people who help users: an address, or a page. */
export function supportLink(support: string, words: Words): Html {
  const address = /^mailto:([^?]*)/.exec(support)?.[1];
  return html`<a href="${support}">${address ?? words.support}</a>`;
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
