/** The key of the markup. It is a registered symbol, because a process can have two copies of this module. */
const MARKUP = Symbol.for('latchkey.html');

/**
 * Markup whose values are escaped. A string cannot be one by mistake: only {@link html} and {@link unsafeHtml} create
 * it.
 */
export interface Html {
  readonly [MARKUP]: string;
  /** Returns the markup. */
  toString(): string;
}

/** A value in a template: `null`, `undefined` and `false` are left out, and the parts of a list follow one another. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

class Markup implements Html {
  readonly [MARKUP]: string;

  constructor(markup: string) {
    this[MARKUP] = markup;
  }

  toString(): string {
    return this[MARKUP];
  }
}

/**
 * Creates markup. Values are escaped, for text and for attributes in quotation marks.
 *
 * @example
 * html`<h1 title="${title}">${name}</h1>`
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = strings[0] ?? '';
  for (let index = 0; index < values.length; index++) markup += markupOf(values[index]) + strings[index + 1];
  return new Markup(markup);
}

/** Uses a string as markup, without escaping: it must not contain anything that a user or a client has chosen. */
export function unsafeHtml(markup: string): Html {
  return new Markup(markup);
}

/** Whether a value is markup. */
export function isHtml(value: unknown): value is Html {
  return typeof value === 'object' && value !== null && MARKUP in value;
}

function markupOf(value: HtmlValue): string {
  if (typeof value === 'string') return escapeHtml(value);
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'number') return String(value);
  return isHtml(value) ? value[MARKUP] : value.map(markupOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '') : text;
}
