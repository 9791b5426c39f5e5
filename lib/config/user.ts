import * as z from 'zod';
import { coreTables } from '../tables/core.js';
import { flag, schemaOf } from './options.js';

/** The type of a field's value. */
export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'date' | 'plainDate' | 'json';

/** A field that the app adds to its users. */
export interface FieldOptions {
  /**
   * The type of the field's values. An `integer` has 32 bits, with a sign. A `date` is a `Date` in code, and an ISO
   * 8601 time in JSON, in the years 1 to 9999. A `plainDate` is a day without a time, such as a birthday: a string such
   * as `1815-12-10` in code, in JSON and in the database, in the years 1 to 9999. A `json` value is anything that JSON
   * can represent.
   * @default none, required
   */
  readonly type: FieldType;
  /** Whether every new user must have a value. @default false */
  readonly required?: boolean;
  /** The value for new users who do not have one. @default null */
  readonly default?: unknown;
  /** The maximum number of characters of a string, in Unicode code points. @default 255 */
  readonly maxLength?: number;
  /** The minimum number of characters of a string, in Unicode code points. @default 0 */
  readonly minLength?: number;
  /** A regular expression that a string must match. @default any string */
  readonly pattern?: RegExp;
  /** The allowed values of a string, an integer or a number. @default all */
  readonly enum?: readonly (string | number)[];
  /** The minimum of an integer or a number. @default none */
  readonly minimum?: number;
  /** The maximum of an integer or a number. @default none */
  readonly maximum?: number;
  /**
   * Who can set the field. `user`: also users themselves, when they sign up and with PATCH /me. `none`: only the app's
   * code and administrators.
   * @default 'user'
   */
  readonly input?: 'user' | 'none';
  /**
   * Who can see the field. `self`: also the user, in `req.auth.user` and in responses. `admin`: administrators and
   * `auth.users.get`. `none`: only the app's own queries, with `auth.models` or its model.
   * @default 'self'
   */
  readonly output?: 'self' | 'admin' | 'none';
  /**
   * What people call the field: the words before its input on pages, and its `title` in the OpenAPI document. At most 100
   * characters.
   * @default the name in words, such as "Favorite color"
   */
  readonly label?: string;
  /**
   * The help under the label of the field's input on pages, such as what its `pattern` allows. At most 200 characters.
   * @default the range of an integer or a number, otherwise none
   */
  readonly hint?: string;
  /** The words for the values of `enum` on pages, by the values. @default the values themselves */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Whether the pages of `pages()` show the field to those who can see or set it. If it is required and has no default,
   * `false` requires your own page for the sign-up: `pages({ own })`.
   * @default true
   */
  readonly onPages?: boolean;
}

/** The fields of users, by their names in camelCase. */
export type FieldsOptions = Readonly<Record<string, FieldOptions>>;

/** A Sequelize model of the app, from any copy of Sequelize. */
export interface RowModel {
  new (...given: never[]): object;
  readonly name: string;
  readonly sequelize?: object | undefined;
  getAttributes(): object;
  getTableName(): string | object;
}

/** Rejects options that do not exist, which an inferred type would otherwise accept. */
type KnownOptions<F extends FieldsOptions> = {
  readonly [K in keyof F]: { readonly [Unknown in Exclude<keyof F[K], keyof FieldOptions>]: never };
};

/** The app's own data about its users. */
export interface UserOptions<F extends FieldsOptions = FieldsOptions> {
  /** The fields in addition to email and username. @default none */
  readonly fields?: F & KnownOptions<F>;
  /**
   * The app's own Sequelize model of users, on the instance in `database`. Each account has one row, which is created
   * with the account and holds the fields. Guards set `req.user` to the row.
   * @default none: the fields are columns of latchkey's table
   */
  readonly model?: RowModel;
  /**
   * The attribute of `model` with the account's id, a `DataTypes.UUID` with a unique index. The JSON of rows does not
   * contain it, unless it is the primary key or the model has its own `toJSON`.
   * @default none, required with `model`
   */
  readonly foreignKey?: string;
}

/** The maximum number of characters of a string whose field does not set `maxLength`. */
export const MAX_STRING = 255;

// MySQL needs up to four bytes for each character of a VARCHAR, and its rows can have at most 65,535 bytes.
const MAX_LENGTH = 4000;
const INT_32 = 2 ** 31;

const length = z.int('must be a whole number').min(0, 'must be 0 or more');
const bound = z.number('must be a number');
const words = wordsOf(100);

/** Returns the schema of words that people read. */
function wordsOf(maximum: number) {
  const error = `must be text of 1 to ${maximum} characters on one line`;
  return z
    .string(error)
    .trim()
    .regex(new RegExp(`^[\\P{Cc}]{1,${maximum}}$`, 'u'), error);
}

/** @internal */
export const fieldSchema = schemaOf<FieldOptions>()({
  type: z.enum(
    ['string', 'integer', 'number', 'boolean', 'date', 'plainDate', 'json'],
    "must be 'string', 'integer', 'number', 'boolean', 'date', 'plainDate' or 'json'",
  ),
  required: flag.optional(),
  default: z.unknown().optional(),
  maxLength: length.min(1, 'must be at least 1').max(MAX_LENGTH, `must be at most ${MAX_LENGTH}`).optional(),
  minLength: length.optional(),
  pattern: z.instanceof(RegExp, { error: 'must be a regular expression' }).optional(),
  enum: z
    .array(z.union([z.string(), z.number()], 'must be a string or a number'), 'must be a list')
    .min(1, 'must list at least one value')
    .optional(),
  minimum: bound.optional(),
  maximum: bound.optional(),
  input: z.enum(['user', 'none'], "must be 'user' or 'none'").optional(),
  output: z.enum(['self', 'admin', 'none'], "must be 'self', 'admin' or 'none'").optional(),
  label: words.optional(),
  hint: wordsOf(200).optional(),
  labels: z.record(z.string(), words, 'must be an object of words').optional(),
  onPages: flag.optional(),
}).superRefine((options, context) => {
  for (const [key, message] of contradictions(options)) {
    context.addIssue({ code: 'custom', path: [key], message });
  }
});

/** Finds options that contradict the type or other options. */
function* contradictions(options: FieldOptions): Generator<readonly [key: string, message: string]> {
  const { type, minLength = 0, maxLength = MAX_STRING, minimum, maximum } = options;
  for (const key of ['maxLength', 'minLength', 'pattern'] as const) {
    if (options[key] !== undefined && type !== 'string') yield [key, "requires type: 'string'"];
  }
  for (const key of ['minimum', 'maximum'] as const) {
    if (options[key] !== undefined && type !== 'integer' && type !== 'number')
      yield [key, "requires type: 'integer' or 'number'"];
  }
  if (minLength > maxLength) yield ['minLength', 'must be at most maxLength'];
  if (minimum !== undefined && maximum !== undefined && minimum > maximum)
    yield ['minimum', 'must be at most maximum'];
  if (type === 'integer' && [minimum, maximum].some((one) => one !== undefined && !isInt32(one)))
    yield [
      minimum !== undefined && !isInt32(minimum) ? 'minimum' : 'maximum',
      'must be an integer of 32 bits',
    ];
  const wanted = type === 'string' ? 'string' : 'number';
  if (options.enum && !['string', 'integer', 'number'].includes(type))
    yield ['enum', "requires type: 'string', 'integer' or 'number'"];
  else if (options.enum?.some((value) => typeof value !== wanted))
    yield ['enum', `must list only ${wanted}s, because of type: '${type}'`];
  const other = Object.keys(options.labels ?? {}).find((key) => !options.enum?.map(String).includes(key));
  if (options.labels && !options.enum) yield ['labels', 'requires enum'];
  else if (other !== undefined) yield ['labels', `has ${JSON.stringify(other)}, which enum does not list`];
  // Otherwise no one could sign up.
  if (options.required && options.input === 'none' && options.default === undefined)
    yield ['required', "requires a default with input: 'none', because users cannot set a value"];
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && value >= -INT_32 && value < INT_32;
}

// Other names in the bodies and responses of routes, and names that suggest that latchkey sets the value.
const OTHERS = ['password', 'credential', 'fields', 'user', 'session', 'token', 'rememberMe', 'redirectTo'];
const MORE = [
  'errorTo',
  'secondFactorTo',
  'checkboxes',
  'newEmail',
  'via',
  'emailVerified',
  'isAdmin',
  'apiKey',
];
const OBJECTS = ['prototype', 'toJSON', 'dataValues', ...Object.getOwnPropertyNames(Object.prototype)];
const RESERVED = new Set([...Object.keys(coreTables.User.columns), ...OTHERS, ...MORE, ...OBJECTS]);

const name = z
  .string()
  .regex(
    /^[a-z][a-zA-Z0-9]{0,39}$/,
    'must be a name in camelCase, of letters and digits, with at most 40 characters',
  )
  .refine(
    (key) => !/[A-Z]{2}/.test(key),
    'must not have two capital letters in a row: its name in JSON could not be converted back',
  )
  .refine((key) => !RESERVED.has(key), 'is a name that latchkey uses: choose another');

// Do not use `instanceof`, because the app might use another copy of Sequelize.
const model = z.custom<RowModel>(
  (it) => typeof it === 'function' && typeof (it as Partial<RowModel>).getAttributes === 'function',
  'must be a Sequelize model',
);

// The type of the interface also rejects options that do not exist.
const fields = z.record(name, fieldSchema, 'must be an object of fields') as z.ZodType<
  FieldsOptions,
  NonNullable<UserOptions['fields']>
>;

/** @internal */
export const userSchema = schemaOf<UserOptions>()({
  fields: fields.default({}),
  model: model.optional(),
  foreignKey: z.string("must be the name of the model's attribute with the account's id").optional(),
}).superRefine((options, context) => {
  const [key, message] =
    options.model && options.foreignKey === undefined
      ? ['foreignKey', "is missing: name the model's attribute with the account's id"]
      : ['foreignKey', 'requires user.model: set user.model too'];
  if ((options.model === undefined) !== (options.foreignKey === undefined))
    context.addIssue({ code: 'custom', path: [key], message });
  if (options.foreignKey !== undefined && Object.hasOwn(options.fields, options.foreignKey))
    context.addIssue({
      code: 'custom',
      path: ['fields', options.foreignKey],
      message: "is user.foreignKey, which holds the account's id: leave it out",
    });
});

/**
 * @param others fields of latchkey's own, by their names
 * @throws TypeError if the app has a field with one of these names
 * @internal
 */
export function userSettings(
  { fields, model, foreignKey }: z.output<typeof userSchema>,
  others: FieldsOptions = {},
) {
  const taken = Object.keys(others).find((key) => Object.hasOwn(fields, key));
  if (taken !== undefined)
    throw new TypeError(
      `latchkey: user.fields.${taken} is the name of a field that latchkey adds with more than one of locale.languages: rename yours`,
    );
  return {
    fields: { ...fields, ...others },
    /** Null if the fields are columns of latchkey's table. */
    model: model ?? null,
    /** Empty without a model. */
    foreignKey: foreignKey ?? '',
  };
}
