import type { Request } from 'express';
import * as z from 'zod';
import type { Settings } from '../config/config.js';
import { PAGE } from '../config/email.js';
import type { Core } from '../core/core.js';
import { AuthError, excerpt, type GivenFieldError } from '../errors.js';
import { say } from '../phrases.js';
import { isAtHost } from '../sessions/origin.js';
import { isPending } from '../sessions/signed-in.js';
import { fieldsShownAgain } from '../shown-again.js';
import { checkCallbackUrl, withPasswordRemoved } from './callback-url.js';
import type { Reply, Route } from './route.js';

/** The fields that every form can have to name the pages to redirect to. */
export const FORM_PAGES = ['redirect_to', 'error_to'] as const;

/** The field that names the page for a sign-in that requires a second factor. */
export const SECOND_FACTOR_TO = 'second_factor_to';

/** The field that names the checkboxes of a form, separated by spaces, because browsers do not send an unchecked one. */
export const CHECKBOXES = 'checkboxes';

/** The pages to which a browser is redirected after it has sent a form. */
export class FormPages {
  #redirectTo: string;
  #secondFactorTo: string;
  /** The page that sent the form, until the form has been read and names another page. */
  #errorTo: string | null;
  /** The other fields of the form. */
  #fields: readonly Pair[] = [];

  readonly #settings: Settings;
  /** The name of the field that names the page for the next step. Null if the route has none. */
  readonly #next: string | null;
  /** The names of the fields that contain pages. */
  readonly #names: readonly string[];
  readonly #body: z.ZodType | undefined;

  constructor(core: Core, { formPage, body }: Pick<Route, 'formPage' | 'body'>, req: Request) {
    const { settings, completion } = core;
    this.#settings = settings;
    this.#body = body;
    this.#redirectTo = formPage ? core.pageUrl(formPage.page) : `${settings.publicPath}/`;
    this.#secondFactorTo = core.pageUrl(`${PAGE}second-factor`);
    this.#next = formPage?.field ?? null;
    this.#names = [
      ...FORM_PAGES,
      ...(completion.canWait ? [SECOND_FACTOR_TO] : []),
      ...(formPage ? [formPage.field] : []),
    ];
    this.#errorTo = sender(settings, req);
  }

  /**
   * Reads the pages from a form.
   *
   * @returns the other fields
   * @throws AuthError `invalid_callback_url` if a page is not allowed; the browser is not redirected then
   */
  takeFrom(form: readonly Pair[]): Pair[] {
    const sender = this.#errorTo;
    this.#errorTo = null;
    this.#fields = form.filter(([name]) => !this.#names.includes(name));
    const pages = new Map(this.#names.map((name) => [name, this.#page(form, name)]));
    this.#redirectTo = pages.get(this.#next ?? 'redirect_to') ?? this.#redirectTo;
    this.#secondFactorTo = pages.get(SECOND_FACTOR_TO) ?? this.#secondFactorTo;
    this.#errorTo = pages.get('error_to') ?? sender;
    return [...this.#fields];
  }

  #page(form: readonly Pair[], name: string): string | null {
    const value = targetIn(form, name);
    return value === null ? null : checkCallbackUrl(value, this.#settings.origins, name);
  }

  /** Converts a JSON reply to a redirect for a form. The body is not sent. */
  redirect({ issue, pending, device = null, headers, clearCookie = false, clears = [] }: Reply): Reply {
    const waits = issue !== undefined && isPending(issue);
    const removed = issue !== undefined && !isPending(issue) && issue.passwordRemoved === true;
    const done = removed ? withPasswordRemoved(this.#redirectTo) : this.#redirectTo;
    return {
      status: 303,
      headers: { ...headers, Location: waits ? this.#secondFactorTo : done },
      ...(pending && { pending }),
      device,
      clearCookie,
      clears,
      ...(issue && { issue }),
    };
  }

  /** The values of the fields that are not secret. Fields that the route does not have are left out. */
  get typed(): Record<string, string> {
    const shown = this.#body ? fieldsShownAgain(this.#body) : new Set();
    return Object.fromEntries([...textsOf(this.#fields, this.#body)].filter(([name]) => shown.has(name)));
  }

  /** Returns the page that shows an error. Null if there is no such page, or if another site sent the form. */
  pageFor(error: unknown): string | null {
    const isRefusal = error instanceof AuthError && error.code !== 'origin_not_allowed';
    return isRefusal ? this.#errorTo : null;
  }
}

/** Returns the path of the page that sent a request, if the page has this origin. */
function sender({ origin, origins }: Settings, { headers }: Request): string | null {
  const { referer = '', host } = headers;
  if (!URL.canParse(referer)) return null;
  const url = new URL(referer);
  if (url.origin !== origin && !isAtHost(url, host)) return null;
  try {
    return checkCallbackUrl(url.pathname + url.search, origins);
  } catch {
    return null;
  }
}

/** A field of a form as it was sent: a string, or a value from the app's own body parser. */
export type Pair = readonly [name: string, value: unknown];

type Kind = 'text' | 'time' | 'boolean' | 'number' | 'words' | 'json';

/** The type of a field, according to a schema. */
interface FieldSchema {
  readonly kind: Kind;
  readonly isNullable: boolean;
}

// For a checkbox, browsers send `on`. The other values are for radio buttons and lists of options.
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['true', true],
  ['off', false],
  ['false', false],
]);

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/**
 * Converts the fields of a form to the JSON body that a route's schema describes. Browsers send empty inputs, so an
 * empty field counts as absent. A value that cannot be converted stays a string, which the validation rejects. A list
 * of words, such as scopes, can be sent in several fields of the same name, as checkboxes and `<select multiple>` do.
 *
 * A checkbox that the form names in {@link CHECKBOXES} is false if it is not sent.
 *
 * @param clears whether an empty field is null instead, where the schema accepts null
 * @throws AuthError `validation_failed` for another field that is sent twice
 */
export function bodyOfForm(
  pairs: readonly Pair[],
  schema: z.ZodType,
  clears = false,
): Record<string, unknown> {
  const fields = fieldsOf(schema);
  const whole = withUnchecked(pairs, schema);
  requireOnce(whole, schema);
  const values = [...textsOf(whole, schema)].flatMap(([name, text]) => {
    const field = fields.get(name);
    if (field && text === '') return clears && field.isNullable ? [[name, null]] : [];
    return [[name, decode(field?.kind ?? 'text', text)]];
  });
  // An assignment would set the prototype if a field is called __proto__.
  return Object.fromEntries(values);
}

/**
 * Returns the errors of the empty fields of a form that clears values, where the schema does not accept null: a value that
 * cannot be removed would otherwise stay, although the user has emptied it.
 */
export function emptiedIn(pairs: readonly Pair[], schema: z.ZodType): readonly GivenFieldError[] {
  const fields = fieldsOf(schema);
  return [...textsOf(pairs, schema)]
    .filter(([name, text]) => text === '' && fields.get(name)?.isNullable === false)
    .map(([name]) => ({ pointer: `/${name}`, code: 'required', detail: say('required') }));
}

/**
 * Adds the checkboxes that a form names, and that are not checked, as `false`. The other fields are as they were sent,
 * so each of them can still be sent only once.
 *
 * @throws AuthError `validation_failed` if the form names them twice, or names a field that is not a boolean
 */
export function withUnchecked(pairs: readonly Pair[], schema: z.ZodType): readonly Pair[] {
  const lists = pairs.filter(([name]) => name === CHECKBOXES);
  if (lists.length === 0) return pairs;
  requireOnce(lists);
  const fields = fieldsOf(schema);
  const names = new Set(lists.flatMap(([, text]) => words(String(text))));
  if ([...names].some((name) => fields.get(name)?.kind !== 'boolean')) {
    throw new AuthError('validation_failed', {
      errors: [{ pointer: `/${CHECKBOXES}`, code: 'invalid', detail: say('not-checkboxes') }],
    });
  }
  const others = pairs.filter(([name]) => name !== CHECKBOXES);
  const checked = new Set(others.map(([name]) => name));
  return [...others, ...[...names].filter((name) => !checked.has(name)).map((name): Pair => [name, 'false'])];
}

/** @throws AuthError `validation_failed` if a field that is not a list is sent more than once */
export function requireOnce(pairs: readonly Pair[], schema: z.ZodType = z.object({})): void {
  const errors = mistakesIn(pairs, fieldsOf(schema));
  if (errors.length > 0) throw new AuthError('validation_failed', { errors });
}

type FieldSchemas = ReadonlyMap<string, FieldSchema>;

/**
 * Returns the strings of a form by their fields. The words of a list that is sent in several fields are separated by
 * spaces, as in one field.
 *
 * @param schema the schema of the route's body, if there is one
 */
export function textsOf(pairs: readonly Pair[], schema?: z.ZodType): ReadonlyMap<string, string> {
  const fields = schema ? fieldsOf(schema) : new Map<string, FieldSchema>();
  const texts = new Map<string, string>();
  for (const [name, text] of pairs) {
    if (typeof text !== 'string') continue;
    const earlier = isList(fields, name) ? texts.get(name) : undefined;
    texts.set(name, earlier ? `${earlier} ${text}` : text);
  }
  return texts;
}

/** Whether a field is a list of words, such as scopes. */
function isList(fields: FieldSchemas, name: string): boolean {
  return fields.get(name)?.kind === 'words';
}

function mistakesIn(pairs: readonly Pair[], fields: FieldSchemas): GivenFieldError[] {
  const names = new Set<string>();
  const errors: GivenFieldError[] = [];
  for (const [name, value] of pairs) {
    const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (names.has(name) && !isList(fields, name))
      errors.push({ pointer, code: 'duplicate', detail: say('sent-twice') });
    else if (typeof value !== 'string')
      errors.push({ pointer, code: 'wrong_type', detail: say('not-single') });
    names.add(name);
  }
  return errors;
}

function decode(kind: Kind, text: string): unknown {
  switch (kind) {
    case 'boolean':
      return BOOLEANS.get(text) ?? text;
    case 'number':
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(text) ? Number(text) : text;
    case 'time':
      return timeOf(text);
    case 'words':
      return wordsOf(text);
    case 'json':
      return jsonOf(text);
    default:
      return text;
  }
}

/** Adds UTC as the time zone, because inputs of the types `date` and `datetime-local` send none. */
function timeOf(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return `${text}T00:00:00Z`;
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text)) return `${text}:00Z`;
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/.test(text) ? `${text}Z` : text;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Reads a list of words, which are separated by spaces or written as JSON. */
function wordsOf(text: string): unknown {
  const list = jsonOf(text);
  return Array.isArray(list) ? list : words(text);
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

const known = new WeakMap<z.ZodType, ReadonlyMap<string, FieldSchema>>();

function fieldsOf(schema: z.ZodType): ReadonlyMap<string, FieldSchema> {
  const fields = known.get(schema) ?? new Map(propertiesOf(inputSchema(schema)));
  known.set(schema, fields);
  return fields;
}

function inputSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

function* propertiesOf(schema: JsonSchema): Generator<[string, FieldSchema]> {
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    yield [name, { kind: kindOf(property), isNullable: typesOf(property).includes('null') }];
  for (const variant of variantsOf(schema)) yield* propertiesOf(variant);
}

function kindOf(property: JsonSchema): Kind {
  const types = new Set(typesOf(property));
  if (types.has('string')) return hasTimeFormat(property) ? 'time' : 'text';
  if (types.has('boolean')) return 'boolean';
  if (types.has('array') && property.items?.type === 'string') return 'words';
  return types.has('integer') || types.has('number') ? 'number' : 'json';
}

function typesOf(schema: JsonSchema): string[] {
  const values = [...(schema.enum ?? []), ...('const' in schema ? [schema.const] : [])];
  return [
    ...[schema.type ?? []].flat(),
    ...values.map((value) => typeof value),
    ...variantsOf(schema).flatMap(typesOf),
  ];
}

function hasTimeFormat(schema: JsonSchema): boolean {
  return schema.format === 'date-time' || variantsOf(schema).some(hasTimeFormat);
}

function variantsOf({ anyOf = [], oneOf = [], allOf = [] }: JsonSchema): JsonSchema[] {
  return [...anyOf, ...oneOf, ...allOf];
}

/**
 * Returns the value of a field that names a page, or null if the field is missing or empty.
 *
 * @throws AuthError `invalid_callback_url` if it is sent twice
 */
function targetIn(pairs: readonly Pair[], name: string): string | null {
  const values = pairs.filter(([one]) => one === name).map(([, value]) => value);
  if (values.length === 0 || (values.length === 1 && values[0] === '')) return null;
  const [value] = values;
  if (values.length === 1 && typeof value === 'string') return value;
  throw new AuthError('invalid_callback_url', { detail: `${excerpt(name)} must be sent once.` });
}
