import { inspect, isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { ownFields } from '../../lib/pages/own-fields.js';
import { describeField, Fields } from '../../lib/users/fields.js';
import { schemaIn, schemas, sources } from '../support/schemas.js';

const found = new Map<string, ReadonlyMap<string, string>>();

/** What `@default` says of each direct member of an interface, of those that it extends, and of those that plugins add. */
function documented(options: string): ReadonlyMap<string, string> {
  const known = found.get(options) ?? find(options);
  found.set(options, known);
  return known;
}

function find(options: string): ReadonlyMap<string, string> {
  const declared = [...sources.values()].flatMap((source) => {
    if (!source.includes(`interface ${options}`)) return [];
    const opening = new RegExp(
      `^( *)(?:export )?interface ${options}(?:<[^{]*>)?\\s+(extends [^{]+)?{\n`,
      'gm',
    );
    return [...source.matchAll(opening)].flatMap(({ 0: whole, 1: indent = '', 2: above = '', index }) => {
      const start = index + whole.length;
      const body = source.slice(start, source.indexOf(`\n${indent}}`, start) + 1);
      const member = new RegExp(
        `/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\n${indent} {2}(?:readonly )?(\\w+)\\??[:(]`,
        'g',
      );
      const own = [...body.matchAll(member)].map(
        ([, comment = '', name = '']) => [name, defaultIn(comment)] as const,
      );
      const parents = (above.match(/\w+/g) ?? []).flatMap((parent) => [...documented(parent)]);
      return [...parents, ...own];
    });
  });
  return new Map(declared);
}

function defaultIn(comment: string): string {
  const text = comment.replace(/\n\s*\* ?/g, ' ');
  return /@default (.*?)\s*$/.exec(text)?.[1] ?? '';
}

/** The value if it is a literal, perhaps with an explanation: `604800 (7 days)`, `0: it is deleted at once`. */
function literal(text: string): { readonly value: unknown } | null {
  const [, code] =
    /^(-?\d+|true|false|null|\[\]|'[^']*'|`[^`(]*`|\{(?: \w+: -?\d+,?)+ \})(?=$|:| \(|, which )/.exec(text) ??
    [];
  if (code === undefined) return null;
  if (/^['`]/.test(code)) return { value: code.slice(1, -1) };
  return { value: JSON.parse(code.replace(/(\w+):/g, '"$1":')) };
}

describe('the defaults that TSDoc names', () => {
  test('are found for every schema of options', () => {
    const all = [...sources.values()].flatMap(
      (source) => source.match(/^[^*\n]*schemaOf<\w+>\(\)\(/gm) ?? [],
    );
    expect(all.length).toBeGreaterThan(30);
    expect(schemas).toHaveLength(all.length);
  });

  test.each(schemas)('of $options are those of its schema', async ({ file, name, options }) => {
    const said = documented(options);
    const wrong: string[] = [];
    for (const [option, schema] of Object.entries((await schemaIn(file, name)).shape)) {
      const text = said.get(option) ?? '';
      const { success, data } = schema.safeParse(undefined);
      const given = literal(text);
      const isRight = given
        ? // The spec below checks those of fields: their schema must know which options were given.
          options === 'FieldOptions' || isDeepStrictEqual(data, given.value)
        : !text.startsWith('none') || data === undefined || isEmpty(data);
      const isRequired = text === 'none, required' || text === '';
      if (!isRight || success === isRequired)
        wrong.push(`${option}: ${text || 'no @default'}, but ${success ? inspect(data) : 'required'}`);
    }
    expect(wrong).toEqual([]);
  });

  test('are literals for many options, which are compared', () => {
    const literals = schemas.flatMap(({ options }) => [...documented(options).values()]).filter(literal);
    expect(literals.length).toBeGreaterThan(50);
  });

  test('of fields are those of a field with a type only', () => {
    const said = documented('FieldOptions');
    const fields = new Fields({ one: { type: 'string' } });
    const { maxLength, minLength = 0 } = describeField({ type: 'string' });
    expect({
      required: fields.missingIn({}).length > 0,
      default: fields.read({}, 'code', 'create').one ?? null,
      maxLength,
      minLength,
      input: Object.keys(fields.wireShape('user', 'create')).length > 0 ? 'user' : 'none',
      output: fields.shown.length > 0 ? 'self' : 'none',
      onPages:
        ownFields({ core: { settings: { user: { fields: { one: { type: 'string' } } } } } } as never).length >
        0,
    }).toEqual(
      Object.fromEntries(
        [...said].flatMap(([option, text]) => {
          const given = literal(text);
          return given ? [[option, given.value]] : [];
        }),
      ),
    );
  });
});

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
