import type { ClientPlugin } from './client/generated/routes.js';
import type { AnyShape } from './client/shape.js';
import type { FieldOptions, FieldsOptions } from './config/user.js';
import type { Plugin } from './plugin.js';
import type { FieldsOf, NewFields } from './users/field-types.js';

/** The key of an Auth's shape. It exists only in the type system. */
export declare const shape: unique symbol;

type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** The values of fields in JSON. */
type InJson<Fields> = {
  [K in keyof Fields as SnakeCase<K>]: Fields[K] extends infer Value
    ? Value extends Date
      ? string
      : Value
    : never;
};

/** The fields that users can set themselves. */
type OpenFields<F extends FieldsOptions> = {
  [K in keyof F as F[K] extends FieldOptions & { input: 'none' } ? never : K]: F[K];
};

/** The shape of the Auth with these plugins and fields. */
export interface ShapeOf<P extends readonly Plugin[], F extends FieldsOptions, B extends boolean> {
  plugins: Extract<P[number]['name'], ClientPlugin>;
  fields: InJson<FieldsOf<F>>;
  newFields: InJson<NewFields<OpenFields<F>>>;
  // Not `B` itself, which TypeScript would infer from the shape.
  bearer: B extends true ? true : false;
}

/** Fields without the language of users. The type of an Auth does not have it, because it depends on `locale.languages`. */
type Compared<Fields> = Omit<Fields, 'locale'>;

/** The parts of a shape that are compared. Without the names, a missing optional field would not be noticed. */
type Facts<S extends AnyShape> = Pick<S, 'plugins' | 'bearer'> & {
  fields: Compared<S['fields']>;
  newFields: Compared<S['newFields']>;
  names: keyof Compared<S['fields']>;
  newNames: keyof Compared<S['newFields']>;
};

// TypeScript compares the parameters of methods in both directions, and the parameters of function properties in one
// direction. So an Auth is still assignable to an Auth with fewer plugins, while a shape must match the Auth exactly.

interface Receiver<T> {
  readonly receive: (given: T) => void;
}

interface Declared<T> {
  accepts(given: T): void;
  passes(to: Receiver<T>): void;
}

interface Wanted<T> {
  readonly accepts: (given: T) => void;
  readonly passes: (to: Receiver<T>) => void;
}

/** The part of an Auth's type that {@link HasShape} compares. */
export interface Shaped<S extends AnyShape> {
  readonly [shape]?: { readonly [K in keyof Facts<S>]: Declared<Facts<S>[K]> };
}

/**
 * An Auth whose plugins, fields and `bearerEnabled` match a shape of `latchkey/client`. An Auth that does not match it
 * does not compile.
 *
 * @example
 * export const auth = createAuth({ … }) satisfies HasShape<Shape>;
 */
export interface HasShape<S extends AnyShape> {
  readonly [shape]?: { readonly [K in keyof Facts<S>]: Wanted<Facts<S>[K]> };
}
