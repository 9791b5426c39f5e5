import * as z from 'zod';
import type { FieldOptions, FieldsOptions } from '../config/user-options.js';
import { AuthError } from '../errors.js';
import { fieldErrors } from '../field-errors.js';
import { type Column, type Columns, column, snakeCase } from '../tables/column.js';
import { codeSchema, describeField, MAX_STRING, toType, wireSchema } from './fields.js';

/** The values of fields, by their names in camelCase. */
export interface FieldValues {
  readonly [name: string]: unknown;
}

/** Exists in the type system only. */
export declare const ofNewUser: unique symbol;

/** The values of a new user's fields. The type system tells them apart, since some of them must be given. */
export interface NewFieldValues extends FieldValues {
  /** Never set. */
  readonly [ofNewUser]?: never;
}

/** Whose values they are: `user` for the user's own, `code` for those of the app's code and of administrators. */
export type FieldSource = 'user' | 'code';

/** The fields that the app adds to its users: their columns, and what their values may be. */
export class Fields {
  readonly #fields: readonly (readonly [name: string, options: FieldOptions])[];

  constructor(fields: FieldsOptions) {
    this.#fields = Object.entries(fields);
    for (const [name, { default: value }] of this.#fields) this.#checkDefault(name, value);
  }

  /** The names of the fields that users see of themselves. */
  get shown(): readonly string[] {
    return this.#withOutput('self');
  }

  /** The names of those that administrators see. */
  get forAdmins(): readonly string[] {
    return this.#withOutput('self', 'admin');
  }

  /** The columns of the users table. */
  get columns(): Columns {
    return Object.fromEntries(this.#fields.map(([name, options]) => [name, columnOf(options)]));
  }

  /** The names, in the order of their declaration. */
  get names(): readonly string[] {
    return this.#fields.map(([name]) => name);
  }

  /** The defaults of those fields that have one. */
  get defaults(): FieldValues {
    return Object.fromEntries(
      this.#fields.flatMap(([name, { default: value }]) => ((value ?? null) === null ? [] : [[name, value]])),
    );
  }

  /**
   * The fields of a request's body, flat and in snake_case.
   *
   * @param purpose `update` makes all of them optional
   * @internal
   */
  wireShape(from: FieldSource, purpose: 'create' | 'update'): z.ZodRawShape {
    return Object.fromEntries(
      this.#open(from).map(([name, options]) => {
        const schema = wireSchema(options);
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

  /** The fields in a row of the app's model. */
  fromRow(get: (attribute: string) => unknown): FieldValues {
    return Object.fromEntries(
      this.#fields.map(([name, { type, output }]) => {
        const value = get(name);
        // The model's default scope leaves it out, which only a field that nobody sees may be.
        if (value === undefined && output === 'none') return [name, undefined];
        return [name, (value ?? null) === null ? null : (toType(type, value) ?? null)];
      }),
    );
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

function columnOf(options: FieldOptions): Column {
  const { type, maxLength = MAX_STRING, output = 'self' } = options;
  const kinds = {
    string: () => column.text(maxLength),
    integer: column.integer,
    number: column.number,
    boolean: column.boolean,
    date: column.anyTime,
    json: column.document,
  };
  // Nullable even if it is required, since users may have been there before the field.
  const nullable = (kinds[type]() as Column).nullable().quoted();
  if (output === 'none') return nullable.inModels();
  const meta = describeField(options);
  return output === 'self' ? nullable.onWire(meta) : nullable.forAdmins(meta);
}
