import type { FieldOptions } from '../config/user.js';
import type { Core } from '../core/core.js';
import type { Html, HtmlValue } from '../html.js';
import { CHECKBOXES } from '../http/forms.js';
import { snakeCase } from '../tables/column.js';
import type { Words } from '../words/pages/index.js';
import { checkbox, choice, field, hidden, labelOf } from './controls.js';
import type { Site } from './site.js';
import type { FormValues } from './values.js';

/** A custom field of the app, for a form. */
export interface OwnField {
  /** The name in the form, such as `favorite_color`. */
  readonly name: string;
  /** What people call it. */
  readonly label: string;
  /** The help for people who fill it in. Null if there is none. */
  readonly hint: string | null;
  /** The smallest number. Null if there is none, or if the values are listed. */
  readonly minimum: number | null;
  /** The largest number. Null if there is none, or if the values are listed. */
  readonly maximum: number | null;
  readonly type: FieldOptions['type'];
  readonly required: boolean;
  /** Whether new users have a value that they have not chosen. */
  readonly hasDefault: boolean;
  readonly options: readonly string[] | null;
  /** The words for the options, by the options. An option without words is shown as it is. */
  readonly labels: Readonly<Record<string, string>>;
  readonly maxLength: number | null;
  /** The current value, as forms contain it. Null if there is none. */
  readonly value: string | null;
  /** Whether it is the language that a user has chosen, whose words depend on the language of the page. @default false */
  readonly isLanguage?: boolean;
}

/**
 * Returns the custom fields of the app, except for those that no input can show.
 *
 * @param values the current values, by their names in JSON. By default, the values of a new user
 * @param by who sets the fields and sees the values: administrators also set those with `input: 'none'`
 * @internal
 */
export function ownFields(
  site: Site,
  values?: Readonly<Record<string, unknown>>,
  by: 'user' | 'administrator' = 'user',
): readonly OwnField[] {
  const isAdministrator = by === 'administrator';
  // With one language, an app can have a field of its own with this name.
  const isLanguage = (key: string) => key === LANGUAGE && site.core.languages.areMany;
  return (
    Object.entries(site.core.settings.user.fields)
      .filter(([, { onPages = true }]) => onPages)
      .filter(([, { input, type }]) => (isAdministrator || input !== 'none') && type !== 'json')
      // New users have the language of their request. Those who want another one choose it later.
      .filter(([key]) => !isLanguage(key) || values !== undefined || isAdministrator)
      // A form that does not know the current value would overwrite it.
      .filter(
        ([, { output = 'self' }]) => !values || output === 'self' || (isAdministrator && output === 'admin'),
      )
      .map(([key, options]) => {
        const name = snakeCase(key);
        const { type, required = false, maxLength = null, enum: list, labels = {} } = options;
        const { minimum = null, maximum = null } = options;
        const value = values ? values[name] : options.default;
        return {
          name,
          label: options.label ?? labelOf(name),
          hint: options.hint ?? null,
          minimum: list ? null : minimum,
          maximum: list ? null : maximum,
          type,
          required,
          hasDefault: options.default !== undefined && options.default !== null,
          maxLength,
          options: list?.map(String) ?? null,
          labels,
          value: textOf(type, value),
          ...(isLanguage(key) && { isLanguage: true }),
        };
      })
  );
}

/**
 * Requires that the pages ask new users for every value that they must have. Providers return the values of theirs.
 *
 * @param own the paths of the app's own pages
 * @throws TypeError if no one could sign up
 * @internal
 */
export function checkSignUp(core: Core, own: Readonly<Record<string, string>>): void {
  const { signUp, user } = core.settings;
  const byPassword = core.passwords !== null && own['sign-up'] === undefined;
  const byEmail = core.emailedSignIns?.makesAccounts === true && own['sign-in/email'] === undefined;
  if (signUp !== 'open' || !(byPassword || byEmail)) return;
  for (const [name, { type, required, default: initial, onPages = true }] of Object.entries(user.fields)) {
    if (!required || initial != null || (onPages && type !== 'json')) continue;
    const page = byEmail ? 'sign-in/email' : 'sign-up';
    throw new TypeError(
      type === 'json'
        ? `latchkey: user.fields.${name} is required and has no default, and no page has an input for type: 'json', so no one could sign up on the pages: set a default, or your own page with pages({ own: { '${page}': … } })`
        : `latchkey: user.fields.${name} is required and has no default, but onPages is false, so no one could sign up on the pages: set onPages: true or a default, or your own page with pages({ own: { '${page}': … } })`,
    );
  }
}

/** Returns the range of a number in words. Null if it has none. */
function rangeOf({ minimum, maximum }: OwnField, { range }: Words): string | null {
  if (minimum !== null && maximum !== null) return range.between(minimum, maximum);
  if (minimum !== null) return range.from(minimum);
  return maximum === null ? null : range.to(maximum);
}

function textOf(type: FieldOptions['type'], value: unknown): string | null {
  if (value === undefined || value === null) return null;
  // An input of the type datetime-local has no time zone.
  return type === 'date'
    ? new Date(value as string).toISOString().replace(/(:00\.000)?Z$/, '')
    : String(value);
}

const INPUTS = {
  string: 'text',
  integer: 'number',
  number: 'number',
  date: 'datetime-local',
  plainDate: 'date',
} as const;

/**
 * Creates the inputs of custom fields. A boolean is a checkbox, which the form names, because browsers do not send an
 * unchecked one.
 *
 * @param hasFocus whether the first one has the focus when the page opens
 * @internal
 */
export function ownInputs(
  form: FormValues,
  fields: readonly OwnField[],
  words: Words,
  hasFocus = false,
): readonly HtmlValue[] {
  const checkboxes = fields.filter(({ type }) => type === 'boolean').map(({ name }) => name);
  return [
    ...fields.map((one, index) => ownInput(form, one, words, hasFocus && index === 0)),
    hidden(CHECKBOXES, checkboxes.join(' ')),
  ];
}

function ownInput(form: FormValues, of: OwnField, words: Words, focus: boolean): Html {
  const { name, type, required, hasDefault, options, labels, maxLength, value, isLanguage = false } = of;
  const label = isLanguage ? words.fields.language : words.ofApp(of.label);
  const ownHint = of.hint === null ? rangeOf(of, words) : words.ofApp(of.hint);
  const hint = isLanguage ? words.fields.languageHint : ownHint;
  if (type === 'boolean') return checkbox(form, name, label, value === 'true', hint);
  if (options) {
    const own = options.map((one) => ({ value: one, label: words.ofApp(labels[one] ?? one) }));
    const isChosen = value !== null && (required || hasDefault);
    const none = isChosen
      ? []
      : [
          {
            value: '',
            label: required ? words.choose : isLanguage ? words.fields.anyLanguage : words.notSet,
          },
        ];
    return choice(
      form,
      { name, label, hint, value, required: required || isChosen, options: [...none, ...own] },
      words,
    );
  }
  const isDate = type === 'date';
  const kind = type === 'json' ? 'text' : INPUTS[type];
  const more = {
    ...(maxLength !== null && { maxLength }),
    ...(type === 'number' && { inputmode: 'decimal' as const }),
    ...((type === 'number' || isDate) && { isExact: true }),
  };
  return field(
    form,
    {
      name,
      label: isDate ? words.inUtc(label) : label,
      type: kind,
      autocomplete: AUTOCOMPLETE[name] ?? 'off',
      required,
      value,
      hint,
      focus,
      ...more,
    },
    words,
  );
}

/** latchkey's own field with the language that a user has chosen, if there is more than one. */
const LANGUAGE = 'locale';

/** The tokens of fields that many apps have (HTML, 4.10.18.7). */
const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  name: 'name',
  full_name: 'name',
  first_name: 'given-name',
  given_name: 'given-name',
  last_name: 'family-name',
  family_name: 'family-name',
  company: 'organization',
  organization: 'organization',
  phone: 'tel',
  country: 'country-name',
  language: 'language',
  birthday: 'bday',
  birth_date: 'bday',
  date_of_birth: 'bday',
  website: 'url',
};
