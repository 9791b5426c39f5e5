import type { Request } from 'express';
import * as z from 'zod';
import type { Settings } from '../config/config.js';
import type { Core } from '../core/core.js';
import { AuthError, excerpt, type FieldError } from '../errors.js';
import { isPending } from '../sessions/signed-in.js';
import { checkCallbackUrl } from './callback-url.js';
import type { Reply } from './route.js';

/** The fields of every form that say where its answer leads. */
export const FORM_PAGES = ['redirect_to', 'error_to'] as const;

/** Where a sign-in leads that requires a second factor. */
export const SECOND_FACTOR_TO = 'second_factor_to';

const SECOND_FACTOR_PAGE = '/second-factor';

/** The pages to which a browser goes after it has sent a form. */
export class FormPages {
  #redirectTo = '/';
  #secondFactorTo = SECOND_FACTOR_PAGE;
  /** Until the form has been read, and if it names none, the page that sent it. */
  #errorTo: string | null;

  readonly #settings: Settings;
  /** The fields. */
  readonly #names: readonly string[];

  constructor({ settings, secondFactors }: Core, req: Request) {
    this.#settings = settings;
    this.#names = secondFactors.plugin ? [...FORM_PAGES, SECOND_FACTOR_TO] : FORM_PAGES;
    this.#errorTo = sender(settings, req);
  }

  /**
   * Takes the pages from a form.
   *
   * @returns the other fields
   * @throws AuthError `invalid_callback_url` if a page is not allowed; then no page is shown
   */
  takeFrom(form: readonly Pair[]): Pair[] {
    const sender = this.#errorTo;
    this.#errorTo = null;
    const [redirectTo, errorTo, secondFactorTo] = this.#names.map((name) => this.#page(form, name));
    this.#redirectTo = redirectTo ?? '/';
    this.#secondFactorTo = secondFactorTo ?? SECOND_FACTOR_PAGE;
    this.#errorTo = errorTo ?? sender;
    return form.filter(([name]) => !this.#names.includes(name));
  }

  #page(form: readonly Pair[], name: string): string | null {
    const value = targetIn(form, name);
    return value === null ? null : checkCallbackUrl(value, this.#settings.origins, name);
  }

  /** Turns the reply to a program into one to a form. Its body is not sent. */
  redirect({ issue, headers, clearCookie = false, clearPending = false }: Reply): Reply {
    const waits = issue !== undefined && isPending(issue);
    return {
      status: 303,
      headers: { ...headers, Location: waits ? this.#secondFactorTo : this.#redirectTo },
      clearCookie,
      clearPending,
      ...(issue && { issue }),
    };
  }

  /** The page that shows an error. Null if there is none, or if another site sent the form. */
  pageFor(error: unknown): string | null {
    const isRefusal = error instanceof AuthError && error.code !== 'origin_not_allowed';
    return isRefusal ? this.#errorTo : null;
  }
}

/** The path of the page that sent a request, if it is a page of this origin. */
function sender({ baseUrl, origins }: Settings, { headers }: Request): string | null {
  const { referer = '', host } = headers;
  if (!URL.canParse(referer)) return null;
  const url = new URL(referer);
  if (url.origin !== baseUrl && url.host !== host?.toLowerCase()) return null;
  try {
    return checkCallbackUrl(url.pathname + url.search, origins);
  } catch {
    return null;
  }
}

/** A field of a form as it was sent: text, or what a body parser of the app made of it. */
export type Pair = readonly [name: string, value: unknown];

type Kind = 'text' | 'time' | 'boolean' | 'number' | 'json';

// Of a checkbox, browsers send `on`. The others are for radio buttons and lists of options.
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
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/**
 * Converts the fields of a form to the JSON body that a route's schema describes. An empty field counts as absent, since
 * browsers send empty inputs. Text that does not fit is left as it is, and fails the validation of the body.
 *
 * @throws AuthError `validation_failed` for a field that is sent twice
 */
export function bodyOfForm(pairs: readonly Pair[], schema: z.ZodType): Record<string, unknown> {
  const kinds = kindsOf(schema);
  const errors = mistakesIn(pairs);
  if (errors.length > 0) throw new AuthError('validation_failed', { errors });
  const filled = pairs.filter((pair): pair is [string, string] => pair[1] !== '' || !kinds.has(pair[0]));
  // Not by assignment, which would set the prototype if a field is called __proto__.
  return Object.fromEntries(filled.map(([name, text]) => [name, decode(kinds.get(name) ?? 'text', text)]));
}

function mistakesIn(pairs: readonly Pair[]): FieldError[] {
  const names = new Set<string>();
  const errors: FieldError[] = [];
  for (const [name, value] of pairs) {
    const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (names.has(name)) errors.push({ pointer, code: 'duplicate', detail: 'is sent more than once' });
    else if (typeof value !== 'string')
      errors.push({ pointer, code: 'wrong_type', detail: 'must be a single value' });
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
    case 'json':
      return jsonOf(text);
    default:
      return text;
  }
}

/** Inputs of the types `date` and `datetime-local` know no time zone: what they send counts as UTC. */
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

const known = new WeakMap<z.ZodType, ReadonlyMap<string, Kind>>();

function kindsOf(schema: z.ZodType): ReadonlyMap<string, Kind> {
  const kinds = known.get(schema) ?? new Map(propertiesOf(inputSchema(schema)));
  known.set(schema, kinds);
  return kinds;
}

function inputSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

function* propertiesOf(schema: JsonSchema): Generator<[string, Kind]> {
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield [name, kindOf(property)];
  for (const variant of variantsOf(schema)) yield* propertiesOf(variant);
}

function kindOf(property: JsonSchema): Kind {
  const types = new Set(typesOf(property));
  if (types.has('string')) return hasTimeFormat(property) ? 'time' : 'text';
  if (types.has('boolean')) return 'boolean';
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
 * The value of a field that says where the answer leads. Null if the form has none, or an empty one.
 *
 * @throws AuthError `invalid_callback_url` if it is sent twice
 */
export function targetIn(pairs: readonly Pair[], name: string): string | null {
  const values = pairs.filter(([one]) => one === name).map(([, value]) => value);
  if (values.length === 0 || (values.length === 1 && values[0] === '')) return null;
  const [value] = values;
  if (values.length === 1 && typeof value === 'string') return value;
  throw new AuthError('invalid_callback_url', { detail: `${excerpt(name)} must be sent once.` });
}
