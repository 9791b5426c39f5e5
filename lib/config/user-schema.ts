import * as z from 'zod';
import { coreTables } from '../tables/core.js';
import type { FieldOptions, Hooks, RowModel } from './user-options.js';

// As in MySQL's VARCHAR with four bytes a character, of which a row can hold 65,535.
const MAX_LENGTH = 4000;
const INT_32 = 2 ** 31;

const length = z.int('must be a whole number').min(0, 'must be 0 or more');
const bound = z.number('must be a number');

const field = z
  .strictObject({
    type: z.enum(
      ['string', 'integer', 'number', 'boolean', 'date', 'json'],
      "must be 'string', 'integer', 'number', 'boolean', 'date' or 'json'",
    ),
    required: z.boolean('must be true or false').optional(),
    default: z.unknown().optional(),
    maxLength: length
      .min(1, 'must be at least 1')
      .max(MAX_LENGTH, `must be at most ${MAX_LENGTH}`)
      .optional(),
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
  })
  .superRefine((options, context) => {
    for (const [key, message] of contradictions(options as FieldOptions)) {
      context.addIssue({ code: 'custom', path: [key], message });
    }
  });

/** What an option requires of the type, and of other options. */
function* contradictions(options: FieldOptions): Generator<readonly [key: string, message: string]> {
  const { type, minLength = 0, maxLength = 255, minimum, maximum } = options;
  for (const key of ['maxLength', 'minLength', 'pattern'] as const) {
    if (options[key] !== undefined && type !== 'string') yield [key, "is for type: 'string'"];
  }
  for (const key of ['minimum', 'maximum'] as const) {
    if (options[key] !== undefined && type !== 'integer' && type !== 'number')
      yield [key, "is for type: 'integer' or 'number'"];
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
    yield ['enum', "is for type: 'string', 'integer' or 'number'"];
  else if (options.enum?.some((value) => typeof value !== wanted))
    yield ['enum', `must list ${wanted}s only, as type says`];
  // Nobody could sign up.
  if (options.required && options.input === 'none' && options.default === undefined)
    yield ['required', "needs a default with input: 'none', since users cannot give a value"];
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && value >= -INT_32 && value < INT_32;
}

// What the routes' bodies and responses have beside the fields.
const OTHERS = ['password', 'credential', 'fields', 'user', 'session', 'token', 'rememberMe', 'redirectTo'];
const MORE = ['errorTo', 'secondFactorTo', 'newEmail', 'via', 'prototype', 'toJSON', 'dataValues'];
const PLUGINS = ['suspendedAt', 'suspendedUntil', 'suspensionReason', 'emailVerified', 'isAdmin', 'apiKey'];
const PROTOTYPE = Object.getOwnPropertyNames(Object.prototype);
const RESERVED = new Set([
  ...Object.keys(coreTables.User.columns),
  ...OTHERS,
  ...MORE,
  ...PLUGINS,
  ...PROTOTYPE,
]);

const name = z
  .string()
  .regex(
    /^[a-z][a-zA-Z0-9]{0,39}$/,
    'must be a name in camelCase, of letters and digits, with at most 40 characters',
  )
  .refine(
    (key) => !/[A-Z]{2}/.test(key),
    'must not have two capitals in a row: its name in JSON could not be read back',
  )
  .refine((key) => !RESERVED.has(key), 'is a name that latchkey uses: choose another');

// Not `instanceof`: the app may use another copy of Sequelize.
const model = z.custom<RowModel>(
  (it) => typeof it === 'function' && typeof (it as Partial<RowModel>).getAttributes === 'function',
  'must be a Sequelize model',
);

/** The schema of `user` in the config. */
export const userSchema = z
  .strictObject({
    fields: z.record(name, field, 'must be an object of fields').default({}),
    model: model.optional(),
    foreignKey: z.string("must be the name of the model's attribute with the account's id").optional(),
  })
  .superRefine((options, context) => {
    const [key, message] =
      options.model && options.foreignKey === undefined
        ? ['foreignKey', "is missing: name the model's attribute with the account's id"]
        : ['foreignKey', 'is for user.model: set that too'];
    if ((options.model === undefined) !== (options.foreignKey === undefined))
      context.addIssue({ code: 'custom', path: [key], message });
    if (options.foreignKey !== undefined && Object.hasOwn(options.fields, options.foreignKey))
      context.addIssue({
        code: 'custom',
        path: ['fields', options.foreignKey],
        message: "is user.foreignKey, which holds the account's id: leave it out",
      });
  });

const HOOKS = [
  'beforeCreateUser',
  'createRow',
  'afterCreateUser',
  'afterUpdateUser',
  'beforeDeleteUser',
] as const;
const hook = z
  .custom<(...given: never[]) => unknown>((it) => typeof it === 'function', 'must be a function')
  .optional();

/** The schema of `hooks` in the config. */
export const hooksSchema = z
  .strictObject(Object.fromEntries(HOOKS.map((key) => [key, hook])))
  .transform((hooks) => hooks as Hooks);
