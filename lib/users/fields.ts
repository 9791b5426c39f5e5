import * as z from 'zod';
import { type FieldOptions, type FieldsOptions, type FieldType, MAX_STRING } from '../config/user.js';
import { AuthError, fieldErrors, messageOf } from '../errors.js';
import { type Phrase, say } from '../phrases.js';
import { shownAgain } from '../shown-again.js';
import { type Column, type Columns, column, snakeCase } from '../tables/column.js';
import type { AddedColumns } from '../tables/core.js';

/** The values of fields, by their names in camelCase. */
export interface FieldValues {
  readonly [name: string]: unknown;
}

/** Exists in the type system only. */
export declare const ofNewUser: unique symbol;

/** The values of a new user's fields. They have their own type, because required fields must be passed. */
export interface NewFieldValues extends FieldValues {
  /** Never set. */
  readonly [ofNewUser]?: never;
}

/** The source of the values: `user` for the user, `code` for the app's code and administrators. */
export type FieldSource = 'user' | 'code';

/** The fields that the app adds to its users: their columns, and the rules for their values. */
export class Fields {
  readonly #fields: readonly (readonly [name: string, options: FieldOptions])[];
  /** The defaults of the fields that have one. A date is a `Date`, even if it is a string in the config. */
  readonly defaults: FieldValues;

  constructor(fields: FieldsOptions) {
    this.#fields = Object.entries(fields);
    this.defaults = Object.assign({}, ...this.#fields.map((field) => this.#defaultOf(...field)));
  }

  /** The names of the fields that users see in their own account. */
  get shown(): readonly string[] {
    return this.#withOutput('self');
  }

  /** The names of the fields that administrators see. */
  get forAdmins(): readonly string[] {
    return this.#withOutput('self', 'admin');
  }

  /** The columns of the users table. */
  get columns(): Columns {
    return Object.fromEntries(this.#fields.map(([name, options]) => [name, columnOf(options)]));
  }

  /** The same columns with their owner, for error messages. */
  get added(): readonly AddedColumns[] {
    return Object.entries(this.columns).map(([name, column]) => ({
      by: `user.fields.${name}`,
      columns: { [name]: column },
      fix: 'rename the field',
    }));
  }

  /** The names, in the order of their declaration. */
  get names(): readonly string[] {
    return this.#fields.map(([name]) => name);
  }

  /** The initial values of the fields that users set themselves: the default, or null unless the field is required. */
  get untouched(): FieldValues {
    return Object.fromEntries(
      this.#open('user').flatMap(([name, { required }]) => {
        const value = this.defaults[name] ?? null;
        return value === null && required ? [] : [[name, value]];
      }),
    );
  }

  /**
   * Returns the schema of the fields in a request's body, flat and in snake_case.
   *
   * @param purpose `update` makes all of them optional
   * @internal
   */
  wireShape(from: FieldSource, purpose: 'create' | 'update'): z.ZodRawShape {
    return Object.fromEntries(
      this.#open(from).map(([name, options]) => {
        const schema = wireSchema(options);
        const isOptional = purpose === 'update' || !options.required || options.default !== undefined;
        const titled = options.label === undefined ? schema : schema.meta({ title: options.label });
        const field = isOptional ? titled.optional() : titled;
        return [snakeCase(name), options.output === 'none' ? field : shownAgain(field)];
      }),
    );
  }

  /** Extracts the fields from a body that has passed {@link wireShape}. */
  fromWire(body: object): FieldValues {
    const values = this.#fields.map(([name]) => [name, (body as FieldValues)[snakeCase(name)]] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  /** Reads the fields from a row of the app's model. */
  fromRow(get: (attribute: string) => unknown): FieldValues {
    return Object.fromEntries(
      this.#fields.map(([name, { type, output }]) => {
        const value = get(name);
        // The model's default scope excludes the field, which is allowed only if no one can see the field.
        if (value === undefined && output === 'none') return [name, undefined];
        return [name, (value ?? null) === null ? null : (toType(type, value) ?? null)];
      }),
    );
  }

  /**
   * Checks values by their names in camelCase, and adds defaults for a new user.
   *
   * @throws AuthError `validation_failed`, including for fields that do not exist or that this source cannot set
   */
  read(given: FieldValues, from: FieldSource, purpose: 'create' | 'update'): FieldValues {
    const values = this.#check(given, from);
    if (purpose === 'update') return values;
    const whole = { ...this.defaults, ...values };
    const missing = this.missingIn(whole);
    if (missing.length === 0) return whole;
    throw new AuthError('validation_failed', {
      errors: missing.map((name) => ({
        pointer: pointerTo(name),
        code: 'required',
        detail: say('required'),
      })),
    });
  }

  /** Returns the names of the required fields that have no value. */
  missingIn(values: FieldValues): readonly string[] {
    return this.#fields
      .filter(([name, { required }]) => required && (values[name] ?? null) === null)
      .map(([name]) => name);
  }

  /** Returns only the values that follow their fields' rules, for sources that might be wrong, such as providers. */
  onlyValid(given: FieldValues): FieldValues {
    return Object.fromEntries(
      this.#fields.flatMap(([name, options]) => {
        if (!Object.hasOwn(given, name) || (given[name] ?? null) === null) return [];
        const { success, data } = codeSchema(options).safeParse(given[name]);
        return success ? [[name, data]] : [];
      }),
    );
  }

  #withOutput(...outputs: readonly string[]): readonly string[] {
    return this.#fields.filter(([, { output = 'self' }]) => outputs.includes(output)).map(([name]) => name);
  }

  #check(given: FieldValues, from: FieldSource): FieldValues {
    const shape = Object.fromEntries(
      this.#open(from).map(([name, options]) => [name, codeSchema(options).optional()]),
    );
    const { data, error } = z.strictObject(shape).safeParse(given, { reportInput: true });
    if (error) {
      const errors = fieldErrors(error).map((one) => ({ ...one, pointer: snakeCase(one.pointer) }));
      throw new AuthError('validation_failed', { errors });
    }
    return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
  }

  #open(from: FieldSource) {
    return this.#fields.filter(([, { input }]) => from === 'code' || input !== 'none');
  }

  /** @throws TypeError if a default breaks the rules of its field */
  #defaultOf(name: string, { default: value }: FieldOptions): FieldValues {
    if (value === undefined) return {};
    try {
      const checked = this.#check({ [name]: value }, 'code');
      return value === null ? {} : checked;
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      throw new TypeError(`latchkey: user.fields.${name}.default ${error.errors?.[0]?.detail}`);
    }
  }
}

/** The JSON pointer to a field in a request. */
export function pointerTo(name: string): string {
  return `/${snakeCase(name)}`;
}

const NOT_SHOWN = 'Its output in the config hides it from users.';

function columnOf(options: FieldOptions): Column {
  const { type, maxLength = MAX_STRING, output = 'self' } = options;
  const kinds = {
    string: () => column.text(maxLength),
    integer: column.integer,
    number: column.number,
    boolean: column.boolean,
    date: column.anyTime,
    // As text, because drivers turn a DATE into a time in some time zone.
    plainDate: () => column.text(PLAIN_DATE.length),
    json: column.document,
  };
  // The column is nullable even if the field is required, because users can be older than the field.
  const nullable = (kinds[type]() as Column).nullable().quoted();
  if (output === 'none') return nullable.inModels().notExported(NOT_SHOWN);
  const meta = describeField(options);
  return output === 'self' ? nullable.onWire(meta) : nullable.forAdmins(meta).notExported(NOT_SHOWN);
}

const INT_32 = 2 ** 31;
const FIRST = new Date('0001-01-01T00:00:00.000Z');
const LAST = new Date('9999-12-31T23:59:59.999Z');
const MAX_JSON_KIB = 16;
// Deeper values could exceed the stack of code that walks them.
const MAX_JSON_DEPTH = 32;

/**
 * Returns the schema of a field's value in JSON.
 */
function wireSchema(options: FieldOptions): z.ZodType {
  return orNull(options, options.type === 'date' ? wireDate : typeOf(options));
}

/**
 * Returns the schema of a field's value in code. It is the schema in JSON, but a date can also be a `Date`.
 */
function codeSchema(options: FieldOptions): z.ZodType {
  const date = z.union([z.date(), wireDate], { error: messageOf(say('not-a-date')) });
  return orNull(options, options.type === 'date' ? date.refine(isInRange, OUT_OF_RANGE) : typeOf(options));
}

/** Describes the rules of a field as properties of its schema in the OpenAPI document. */
export function describeField(options: FieldOptions): Readonly<Record<string, unknown>> {
  const { type, minLength, minimum, maximum, label } = options;
  return {
    ...(label !== undefined && { title: label }),
    ...(type === 'plainDate' && { format: 'date' }),
    ...(type === 'string' && { maxLength: options.maxLength ?? MAX_STRING }),
    ...(minLength && { minLength }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(options.enum && { enum: options.enum }),
  };
}

/**
 * Converts a value of the app's row to the type of its field, because the attribute can have another type: for example,
 * Sequelize reads a DECIMAL as a string. Null if it cannot be converted.
 */
function toType(type: FieldType, value: unknown): unknown {
  switch (type) {
    case 'string':
      return value instanceof Date ? timeOf(value)?.toISOString() : String(value);
    case 'integer':
      return Number.isSafeInteger(Number(value)) ? Number(value) : null;
    case 'number':
      return Number.isFinite(Number(value)) ? Number(value) : null;
    case 'boolean':
      return value === true || value === 'true' || Number(value) === 1;
    case 'date':
      return timeOf(value as Date | string);
    case 'plainDate':
      return dayOf(value);
    case 'json':
      return value;
  }
}

/** Returns a day as a string. Drivers read a DATE as midnight, in UTC or in the time zone of the process. */
function dayOf(value: unknown): string | null {
  if (!(value instanceof Date))
    return plainDate.safeParse(String(value).slice(0, PLAIN_DATE.length)).data ?? null;
  const time = value.getTime();
  if (Number.isNaN(time)) return null;
  const isUtc = time % DAY_MS === 0;
  const atUtc = isUtc ? time : time - value.getTimezoneOffset() * MINUTE_MS;
  return new Date(atUtc).toISOString().slice(0, PLAIN_DATE.length);
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function timeOf(value: Date | string): Date | null {
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? null : time;
}

function orNull({ required }: FieldOptions, schema: z.ZodType): z.ZodType {
  return required ? schema : schema.nullable();
}

function typeOf({ type, ...options }: FieldOptions): z.ZodType {
  switch (type) {
    case 'string':
      return oneOf(stringOf(options), options.enum).meta(describeField({ type, ...options }));
    case 'integer': {
      const { minimum = -INT_32, maximum = INT_32 - 1 } = options;
      return oneOf(z.int().min(minimum).max(maximum), options.enum);
    }
    case 'number':
      return oneOf(numberOf(options), options.enum);
    case 'boolean':
      return z.boolean();
    case 'date':
      return wireDate;
    case 'plainDate':
      return plainDate;
    case 'json':
      return json;
  }
}

function stringOf({ minLength = 0, maxLength = MAX_STRING, pattern }: Omit<FieldOptions, 'type'>) {
  const text = z
    .string()
    // Check the length before the pattern, which could take long on a long string.
    .check(lengthBetween(minLength, maxLength))
    .refine(isText, { error: messageOf(say('malformed-text')), abort: true });
  if (!pattern) return text;
  const error = messageOf(say('outside-pattern'));
  // With `g` or `y`, an expression remembers where it stopped. OpenAPI does not support flags.
  const flags = pattern.flags.replace(/[gyd]/g, '');
  const stateless = new RegExp(pattern.source, flags);
  return /^[uv]?$/.test(flags)
    ? text.regex(stateless, error)
    : text.refine((it) => stateless.test(it), error);
}

/** Checks the length in code points, as databases and JSON Schema do. An emoji has one or a few code points. */
function lengthBetween(minimum: number, maximum: number) {
  return ({ value, issues }: z.core.ParsePayload<string>): void => {
    // No character has more than two UTF-16 units.
    const length = value.length > 2 * maximum ? value.length : [...value].length;
    const issue = { origin: 'string', inclusive: true, input: value, continue: false } as const;
    if (length > maximum) issues.push({ ...issue, code: 'too_big', maximum });
    else if (length < minimum) issues.push({ ...issue, code: 'too_small', minimum });
  };
}

function numberOf({ minimum, maximum }: Omit<FieldOptions, 'type'>) {
  let schema = z.number();
  if (minimum !== undefined) schema = schema.min(minimum);
  return maximum === undefined ? schema : schema.max(maximum);
}

function oneOf<S extends z.ZodType<string | number>>(
  schema: S,
  allowed?: readonly (string | number)[],
): z.ZodType {
  if (!allowed) return schema;
  return schema
    .refine((value) => allowed.includes(value), { error: messageOf(say('not-one-of', { values: allowed })) })
    .meta({ enum: allowed });
}

const OUT_OF_RANGE = { error: messageOf(say('outside-years')) };
const isInRange = (date: Date) => date >= FIRST && date <= LAST;

const wireDate = z.iso
  .datetime({ offset: true, error: messageOf(say('not-a-time')) })
  .transform((text) => new Date(text))
  .refine(isInRange, OUT_OF_RANGE);

const PLAIN_DATE = 'YYYY-MM-DD';

const plainDate = z.iso
  .date({ error: messageOf(say('not-a-day')) })
  .refine((text) => !text.startsWith('0000'), OUT_OF_RANGE);

const json = z
  .unknown()
  .superRefine((value, context) => {
    const fault = faultOfJson(value);
    if (fault) context.addIssue({ code: 'custom', message: messageOf(fault) });
  })
  // Convert the value to the form in which it is read later, for example with dates as strings.
  .transform((value) => (value === undefined ? value : JSON.parse(JSON.stringify(value))));

function faultOfJson(value: unknown): Phrase | null {
  if (value === null) return say('json-null');
  if (depthOf(value) > MAX_JSON_DEPTH) return say('json-too-deep', { maximum: MAX_JSON_DEPTH });
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    return say('not-json');
  }
  if (text === undefined) return say('not-json');
  if (Buffer.byteLength(text) > MAX_JSON_KIB * 1024) return say('json-too-large', { maximum: MAX_JSON_KIB });
  // JSON.stringify escapes NUL and characters that are not well-formed.
  if (/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/i.test(text)) return say('malformed-text');
  // Code that merges such an object into another would change the prototype of all objects.
  if (hasKey(value, '__proto__')) return say('json-proto');
  return null;
}

/** Counts the levels of nesting, but only until there are too many, so that cycles cause no endless recursion. */
function depthOf(value: unknown, depth = 1): number {
  if (typeof value !== 'object' || value === null || depth > MAX_JSON_DEPTH) return depth;
  return Math.max(depth, ...Object.values(value).map((inner) => depthOf(inner, depth + 1)));
}

function hasKey(value: unknown, key: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, key) || Object.values(value).some((inner) => hasKey(inner, key));
}

function isText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}
