import * as z from 'zod';
import { nearest } from '../known-keys.js';

type Issue = z.core.$ZodIssue;

/** Exists in the type system only. */
declare const tied: unique symbol;

/** A schema that accepts exactly the options that an interface declares. Only {@link schemaOf} creates one. */
export interface OptionsSchema<Options, Output> extends z.ZodType<Output, Options> {
  readonly [tied]: true;
}

/**
 * Returns a function that creates the schema for an interface of options, from a schema for each option. TypeScript
 * rejects an option that only the interface or only the schema has, or that has different types in the two.
 *
 * @example
 * const schema = () => schemaOf<ExampleOptions>()({ maxLength: z.int().default(100) });
 */
export function schemaOf<Options extends object>() {
  return <Shape extends z.ZodRawShape>(
    shape: Shape & Tied<Options, Shape>,
  ): OptionsSchema<Options, z.output<z.ZodObject<Shape, z.core.$strict>>> =>
    z.strictObject(shape as Shape) as never;
}

type Tied<Options, Shape extends z.ZodRawShape> = {
  readonly [Name in keyof Options | keyof Shape]-?: Name extends keyof Options
    ? Name extends keyof Shape
      ? TiedOption<Options, Name, z.input<Shape[Name]>>
      : z.ZodType
    : Mistake<'the interface has no such option'>;
};

type TiedOption<Options, Name extends keyof Options, Given> =
  Same<Comparable<Exclude<Options[Name], undefined>>, Comparable<Exclude<Given, undefined>>> extends true
    ? Same<IsOptional<Options, Name>, undefined extends Given ? true : false> extends true
      ? z.ZodType
      : Mistake<'the option is optional in only one of the interface and the schema'>
    : Mistake<'the interface and the schema give the option different types', Options[Name], Given>;

/** A type that no schema can be assigned to, so that the compiler's message contains the reason. */
interface Mistake<Reason extends string, Declared = unknown, Given = unknown> {
  readonly mistake: Reason;
  readonly declared: Declared;
  readonly given: Given;
}

type IsOptional<Options, Name extends keyof Options> =
  Record<never, never> extends Pick<Options, Name> ? true : false;

/** Makes lists and records read-only, as interfaces declare them but schemas do not. */
type Comparable<T> = T extends readonly (infer Item)[]
  ? readonly Item[]
  : string extends keyof T
    ? Readonly<T>
    : T;

/** Whether two types are identical, and not only assignable to each other. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export const flag = z.boolean('must be true or false');

// Longer durations could exceed the range of dates in JavaScript and the databases.
const CENTURY = 100 * 365 * 24 * 3600;

/** A duration that can be zero. */
export const anySeconds = z
  .number('must be a number of seconds')
  .min(0, 'must be 0 seconds or more')
  .max(CENTURY, 'must be at most 100 years, in seconds');

export const seconds = anySeconds.positive('must be more than 0 seconds');

/**
 * Validates the config or the options of a plugin, and fills in defaults.
 *
 * @param where the owner of the options, for messages; empty for the config
 * @param makeSchema creates the schema. It is a function, so that no time is spent on schemas of unused options
 * @throws TypeError naming every invalid key and how to fix it, without quoting values
 */
export function readOptions<Options, Output, Given>(
  where: string,
  makeSchema: () => OptionsSchema<Options, Output>,
  options: Given &
    (Same<Given, Options> extends true ? unknown : Mistake<'the schema is that of other options'>),
): Output {
  const schema = makeSchema();
  // Do not compile the schema, because it is used only once.
  const { data, error } = schema.safeParse(options, { jitless: true });
  if (!error) return data;
  const mistakes = error.issues.flatMap(intendedIssues).map((issue) => sentence(issue, where, schema));
  throw new TypeError(`latchkey: ${where && `${where}: `}${mistakes.join('; ')}`);
}

/** Returns the issues within the alternative of a union that was probably intended. They help more than "no match". */
function intendedIssues(issue: Issue): Issue[] {
  if (issue.code === 'invalid_key')
    return issue.issues.flatMap(intendedIssues).map((inner) => ({ ...inner, path: issue.path }) as Issue);
  if (issue.code !== 'invalid_union') return [issue];
  const alternatives = issue.errors.map((issues) => issues.flatMap(intendedIssues));
  const isInside = ({ code, path }: Issue) => path.length > 0 || code === 'unrecognized_keys';
  const intended = alternatives.find((issues) => issues.some(isInside));
  if (!intended && !hasNoMessage(issue)) return [issue];
  return (intended ?? alternatives.flat().slice(0, 1)).map((inner) => ({
    ...inner,
    path: [...issue.path, ...inner.path],
  }));
}

function hasNoMessage({ message }: Issue): boolean {
  return message.startsWith('Invalid input');
}

// The names of types, for schemas without a custom message.
const KINDS: Record<string, string> = {
  object: 'an object',
  array: 'a list',
  int: 'a whole number',
  boolean: 'true or false',
};

function sentence(issue: Issue, where: string, schema: z.core.$ZodType): string {
  if (issue.code === 'unrecognized_keys') {
    const spelled = (keys: readonly string[]) =>
      new Intl.ListFormat('en').format(keys.map((key) => spell([...issue.path, key])));
    const known = keysAt(schema, issue.path);
    const near = issue.keys.flatMap((key) => nearest(key, known) ?? []);
    const verdict = issue.keys.length === 1 ? 'is not an option' : 'are not options';
    const advice = `check the spelling${near.length > 0 ? ` (did you mean ${spelled(near)}?)` : ''}`;
    return `${spelled(issue.keys)} ${verdict}${where ? '' : ' of latchkey'}: ${advice}`;
  }
  const subject = spell(issue.path) || (where ? 'the options' : 'the config');
  const kind = issue.code === 'invalid_type' && hasNoMessage(issue) ? issue.expected : null;
  return `${subject} ${kind ? `must be ${KINDS[kind] ?? `a ${kind}`}` : issue.message}`;
}

/** Formats a path as in code: `session.cookie`, `secret[1]`. */
function spell(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

/** Returns the keys that a schema allows at a path. */
function keysAt(schema: z.core.$ZodType, [key, ...path]: readonly PropertyKey[]): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const here = key === undefined ? [] : [key, ...path];
  if (def.type === 'union') return def.options.flatMap((one) => keysAt(one, here));
  if (def.type === 'array') return keysAt(def.element, path);
  if (def.type === 'record') return keysAt(def.valueType, path);
  if (def.type === 'object') {
    if (key === undefined) return Object.keys(def.shape);
    const inner = def.shape[String(key)];
    return inner ? keysAt(inner, path) : [];
  }
  return 'innerType' in def ? keysAt(def.innerType, here) : [];
}

/** Whether a host name is a loopback address, for which plain http is safe. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
