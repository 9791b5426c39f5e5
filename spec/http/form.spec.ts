import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { bodyOfForm, emptiedIn } from '../../lib/http/forms.js';
import { text } from '../../lib/http/route.js';
import type { AuthError } from '../../lib/index.js';
import { say } from '../../lib/phrases.js';
import { Fields } from '../../lib/users/fields.js';

const schema = z.strictObject({
  text: text(100),
  nothing_or_text: z.string().nullable().optional(),
  one_of: z.enum(['on', 'off']).optional(),
  flag: z.boolean().optional(),
  flag_or_nothing: z.boolean().nullable().default(false),
  whole: z.int().optional(),
  number: z.number().min(0).optional(),
  time: z.iso.datetime({ offset: true }).optional(),
  words: z.array(z.string()).optional(),
  anything: z.unknown(),
});
const body = (pairs: [string, unknown][]) => bodyOfForm(pairs, schema);

describe('a field of a form becomes', () => {
  test.each<[name: string, sent: string, value: unknown]>([
    ['text', ' a b ', ' a b '],
    ['text', 'true', 'true'],
    ['text', '12', '12'],
    ['text', '2026-01-31', '2026-01-31'],
    ['nothing_or_text', 'null', 'null'],
    ['one_of', 'on', 'on'],
    ['flag', 'on', true],
    ['flag', 'true', true],
    ['flag', 'off', false],
    ['flag', 'false', false],
    ['flag_or_nothing', 'on', true],
    ['whole', '12', 12],
    ['whole', '-12', -12],
    ['whole', '1.5', 1.5],
    ['number', '1.5', 1.5],
    ['number', '.5', 0.5],
    ['number', '1e3', 1000],
    ['time', '2026-01-31', '2026-01-31T00:00:00Z'],
    ['time', '2026-01-31T12:30', '2026-01-31T12:30:00Z'],
    ['time', '2026-01-31T12:30:15.5', '2026-01-31T12:30:15.5Z'],
    ['time', '2026-01-31T12:30:15+02:00', '2026-01-31T12:30:15+02:00'],
    ['words', '["a","b"]', ['a', 'b']],
    ['words', ' a  b:c ', ['a', 'b:c']],
    ['words', '12', ['12']],
    ['anything', '{"a":[1]}', { a: [1] }],
    // These fail the validation of the body.
    ['flag', '1', '1'],
    ['flag', 'yes', 'yes'],
    ['flag', 'constructor', 'constructor'],
    ['flag', '__proto__', '__proto__'],
    ['whole', '12x', '12x'],
    ['whole', '0x1f', '0x1f'],
    ['whole', ' 12', ' 12'],
    ['number', 'Infinity', 'Infinity'],
    ['number', 'NaN', 'NaN'],
    ['number', '1,5', '1,5'],
    ['time', 'tomorrow', 'tomorrow'],
    ['unknown', 'true', 'true'],
  ])('%s=%s → %j', (name, sent, value) => {
    expect(body([[name, sent]])).toEqual({ [name]: value });
  });

  test('a list of words that is sent in several fields', () => {
    for (const [sent, value] of [
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
      [['', 'b:c', ''], ['b:c']],
      [
        ['a b', 'a'],
        ['a', 'b', 'a'],
      ],
    ] as const)
      expect(body(sent.map((one) => ['words', one]))).toEqual({ words: value });
    expect(
      body([
        ['words', ''],
        ['words', ''],
      ]),
    ).toEqual({});
  });

  test('nothing if it is empty', () => {
    expect(body(Object.keys(schema.shape).map((name) => [name, '']))).toEqual({});
    // Refused like any other unknown field.
    expect(body([['unknown', '']])).toEqual({ unknown: '' });
  });
});

test('fields of users are converted by their types', () => {
  const fields = new Fields({
    name: { type: 'string', required: true },
    age: { type: 'integer' },
    height: { type: 'number' },
    newsletter: { type: 'boolean', default: false },
    bornAt: { type: 'date' },
    preferences: { type: 'json' },
  });
  const shape = z.strictObject(fields.wireShape('user', 'create'));
  const sent = {
    name: '7',
    age: '36',
    height: '1.6',
    newsletter: 'on',
    born_at: '1815-12-10',
    preferences: '[1]',
  };
  const filled = shape.parse(bodyOfForm(Object.entries(sent), shape));
  expect(fields.fromWire(filled)).toEqual({
    name: '7',
    age: 36,
    height: 1.6,
    newsletter: true,
    bornAt: new Date('1815-12-10'),
    preferences: [1],
  });
});

test('the variants of a body are all known', () => {
  const variants = z.union([
    z.strictObject({ password: text(100) }),
    z.strictObject({ code: z.int(), trust: z.boolean().optional() }),
  ]);
  expect(
    bodyOfForm(
      [
        ['code', '12'],
        ['trust', 'on'],
      ],
      variants,
    ),
  ).toEqual({ code: 12, trust: true });
});

test('an empty field is null where a form clears values, if the schema accepts null', () => {
  const empty = Object.keys(schema.shape).map((name) => [name, ''] as const);
  expect(bodyOfForm(empty, schema, true)).toEqual({ nothing_or_text: null, flag_or_nothing: null });
  expect(emptiedIn(empty, schema)).toContainEqual({
    pointer: '/text',
    code: 'required',
    detail: say('required'),
  });
  expect(emptiedIn(empty, schema).map(({ pointer }) => pointer)).not.toContain('/nothing_or_text');
  expect(bodyOfForm(empty, schema)).toEqual({});
});

describe('a form is refused', () => {
  const errorsOf = (pairs: [string, unknown][]) => {
    try {
      body(pairs);
    } catch (error) {
      return (error as AuthError).errors?.map(({ pointer, code }) => [pointer, code]);
    }
    return [];
  };

  test('if it has a field twice, even an empty one', () => {
    for (const [first, second] of [
      ['a', 'b'],
      ['a', 'a'],
      ['', 'a'],
      ['', ''],
    ])
      expect(
        errorsOf([
          ['text', first],
          ['flag', 'on'],
          ['text', second],
        ]),
      ).toEqual([['/text', 'duplicate']]);
  });

  test('if a parser has made an object of a field', () => {
    for (const value of [{ a: '1' }, {}, null, 5])
      expect(errorsOf([['a/b~', value]])).toEqual([['/a~1b~0', 'wrong_type']]);
    expect(errorsOf([['anything', { a: 'x' }]])).toEqual([['/anything', 'wrong_type']]);
  });

  test('and names from the prototype are fields like others', () => {
    const made = body([
      ['__proto__', 'x'],
      ['constructor', 'on'],
      ['toString', '1'],
    ]);
    expect(Object.entries(made)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'on'],
      ['toString', '1'],
    ]);
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect(schema.safeParse(made).error?.issues.map(({ code }) => code)).toContain('unrecognized_keys');
  });
});

describe('the checkboxes that a form names', () => {
  const named = (...pairs: [string, string][]) => body([['checkboxes', 'flag'], ...pairs]);

  test('are false if they are not sent, and as they are sent otherwise', () => {
    expect(named()).toEqual({ flag: false });
    expect(named(['flag', 'on'])).toEqual({ flag: true });
    expect(body([['text', 'a']])).toEqual({ text: 'a' });
    expect(body([['checkboxes', ' ']])).toEqual({});
  });

  test.each<[string, () => unknown, string]>([
    ['a checkbox is sent twice', () => named(['flag', 'on'], ['flag', 'false']), '/flag'],
    ['the list is sent twice', () => named(['checkboxes', 'flag']), '/checkboxes'],
    ['the list names another field', () => body([['checkboxes', 'text']]), '/checkboxes'],
    ['the list names no field', () => body([['checkboxes', 'flag nothing']]), '/checkboxes'],
  ])('are rejected if %s', (_if, read, pointer) => {
    expect(read).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        errors: [expect.objectContaining({ pointer })],
      }),
    );
  });
});
