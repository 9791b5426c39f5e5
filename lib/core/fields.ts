import { z } from 'zod';
import type { FieldOptions, FieldsOptions } from '../config/user-options.js';
import { AuthError } from '../errors.js';
import { type Column, type Columns, column, snakeCase } from '../models/column.js';
import { fieldErrors } from './field-errors.js';

/** The values of fields, by their names in camelCase. */
export type FieldValues = Readonly<Record<string, unknown>>;

/** Whose values they are: `user` for the user's own, `code` for those of the app's code and of administrators. */
export type FieldSource = 'user' | 'code';

const MAX_STRING = 255;
const INT_32 = 2 ** 31;
const FIRST = new Date('0001-01-01T00:00:00.000Z');
const LAST = new Date('9999-12-31T23:59:59.999Z');
const MAX_JSON_BYTES = 16 * 1024;

/** The fields that the app adds to its users: their columns, and what their values may be. */
export class Fields {
  readonly #fields: readonly (readonly [name: string, options: FieldOptions])[];

  constructor(fields: FieldsOptions) {
    this.#fields = Object.entries(fields);
    for (const [name, { default: value }] of this.#fields) this.#checkDefault(name, value);
  }

  /** The columns of the users table. */
  get columns(): Columns {
    return Object.fromEntries(this.#fields.map(([name, options]) => [name, columnOf(options)]));
  }

  /** The names, in the order of their declaration. */
  get names(): readonly string[] {
    return this.#fields.map(([name]) => name);
  }

  /** The values of a new user's columns before anybody has given one. */
  get defaults(): FieldValues {
    return Object.fromEntries(this.#fields.map(([name, options]) => [name, options.default ?? null]));
  }

  /**
   * The fields of a request's body, flat and in snake_case.
   *
   * @param purpose `update` makes all of them optional
   */
  wireShape(from: FieldSource, purpose: 'create' | 'update'): z.ZodRawShape {
    return Object.fromEntries(
      this.#open(from).map(([name, options]) => {
        const schema = schemaOf(options);
        const isOptional = purpose === 'update' || !options.required || options.default !== undefined;
        return [snakeCase(name), isOptional ? schema.optional() : schema];
      }),
    );
  }

  /** Takes the fields out of a body with {@link wireShape}. */
  fromWire(body: object): FieldValues {
    const values = this.#fields.map(([name]) => [name, (body as FieldValues)[snakeCase(name)]] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  /**
   * Checks values that were given by their names in camelCase, and adds defaults for a new user.
   *
   * @throws AuthError `validation_failed`, also for fields that do not exist or that this source may not set
   */
  read(given: FieldValues, from: FieldSource, purpose: 'create' | 'update'): FieldValues {
    const values = this.#check(given, from);
    if (purpose === 'update') return values;
    const whole = { ...this.defaults, ...values };
    const missing = this.missingIn(whole);
    if (missing.length === 0) return whole;
    throw new AuthError('validation_failed', {
      errors: missing.map((name) => ({ pointer: pointerTo(name), code: 'required', detail: 'is missing' })),
    });
  }

  /** The required fields that have no value. */
  missingIn(values: FieldValues): readonly string[] {
    return this.#fields
      .filter(([name, { required }]) => required && (values[name] ?? null) === null)
      .map(([name]) => name);
  }

  /** The values that follow their fields' rules, for sources that may be wrong, such as providers. */
  onlyValid(given: FieldValues): FieldValues {
    return Object.fromEntries(
      this.#fields.flatMap(([name, options]) => {
        if (!Object.hasOwn(given, name) || given[name] === undefined) return [];
        const { success, data } = schemaOf(options).safeParse(given[name]);
        return success ? [[name, data]] : [];
      }),
    );
  }

  #check(given: FieldValues, from: FieldSource): FieldValues {
    const shape = Object.fromEntries(
      this.#open(from).map(([name, options]) => [name, schemaOf(options).optional()]),
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
  #checkDefault(name: string, value: unknown): void {
    if (value === undefined) return;
    try {
      this.#check({ [name]: value }, 'code');
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      throw new TypeError(`latchkey: user.fields.${name}.default ${error.errors?.[0]?.detail}`);
    }
  }
}

function pointerTo(name: string): string {
  return `/${snakeCase(name)}`;
}

function columnOf({ type, maxLength = MAX_STRING, output = 'self' }: FieldOptions): Column {
  const kinds = {
    string: () => column.text(maxLength),
    integer: column.integer,
    number: column.number,
    boolean: column.boolean,
    date: column.time,
    json: column.document,
  };
  // Nullable even if it is required, since users may have been there before the field.
  const nullable = (kinds[type]() as Column).nullable();
  if (output === 'self') return nullable.onWire();
  return output === 'admin' ? nullable.forAdmins() : nullable.inModels();
}

/** What a value of a field may be, in JSON and in code. */
function schemaOf(options: FieldOptions): z.ZodType {
  const schema = typeOf(options);
  return options.required ? schema : schema.nullable();
}

function typeOf({ type, ...options }: FieldOptions): z.ZodType {
  switch (type) {
    case 'string':
      return oneOf(stringOf(options), options.enum);
    case 'integer': {
      const { minimum = -INT_32, maximum = INT_32 - 1 } = options;
      return oneOf(z.int().min(minimum).max(maximum), options.enum);
    }
    case 'number': {
      const { minimum = -Number.MAX_VALUE, maximum = Number.MAX_VALUE } = options;
      return oneOf(z.number().min(minimum).max(maximum), options.enum);
    }
    case 'boolean':
      return z.boolean();
    case 'date':
      return timeSchema;
    case 'json':
      return jsonSchema;
  }
}

function stringOf({ minLength = 0, maxLength = MAX_STRING, pattern }: Omit<FieldOptions, 'type'>) {
  const text = z
    .string()
    .min(minLength)
    .max(maxLength)
    .refine(isText, { error: 'must be well-formed Unicode without a NUL character', abort: true });
  if (!pattern) return text;
  // With `g` or `y`, an expression remembers where it stopped.
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
  return text.regex(stateless, 'must match the pattern of this field');
}

function oneOf<V extends string | number>(
  schema: z.ZodType<V>,
  allowed?: readonly (string | number)[],
): z.ZodType<V> {
  if (!allowed) return schema;
  return schema.refine((value) => allowed.includes(value), { error: `must be one of ${allowed.join(', ')}` });
}

const timeSchema = z
  .union([z.iso.datetime({ offset: true }).transform((text) => new Date(text)), z.date()], {
    error: 'must be an ISO 8601 time, such as 2026-01-31T12:00:00Z',
  })
  .refine((date) => date >= FIRST && date <= LAST, { error: 'must be in the years 1 to 9999' });

const jsonSchema = z.unknown().superRefine((value, context) => {
  const problem = problemOfJson(value);
  if (problem) context.addIssue({ code: 'custom', message: problem });
});

function problemOfJson(value: unknown): string | null {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    return 'must be a value that JSON can represent';
  }
  if (text === undefined) return 'must be a value that JSON can represent';
  if (Buffer.byteLength(text) > MAX_JSON_BYTES) return 'must be at most 16 KiB as JSON';
  // JSON.stringify escapes what is not well-formed.
  if (/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/i.test(text))
    return 'must be well-formed Unicode without a NUL character';
  return null;
}

function isText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}
