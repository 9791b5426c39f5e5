/** What a column holds. */
export type ColumnKind =
  | 'uuid'
  | 'text'
  /** Text of up to 64 KiB. */
  | 'long-text'
  /** Words separated by spaces, such as scopes. */
  | 'words'
  | 'json'
  /** A SHA-256. */
  | 'digest'
  /** A point in time, in milliseconds. */
  | 'time'
  | 'integer'
  | 'boolean';

/**
 * How far a column's value gets. `client`: on the wire. `code`: to the app's own code, in types such as `Session` and in
 * the models' default scope. `internal`: nowhere outside latchkey. `secret`: nor into the log of a statement.
 */
export type Visibility = 'client' | 'code' | 'internal' | 'secret';

/** A column: Sequelize's attribute, the SQL, the TypeScript type and the wire format all derive from it. */
export interface Column<Value = unknown, V extends Visibility = Visibility> {
  readonly kind: ColumnKind;
  /** In characters, for text. */
  readonly length?: number;
  readonly isNullable: boolean;
  readonly visibility: V;
  /** Where it is not the attribute's name in snake_case. */
  readonly name?: string;
  /** What the OpenAPI document says of the value beside its type. */
  readonly meta?: Readonly<Record<string, string>>;
  /** For the type system alone. */
  readonly value?: Value;
}

export type Columns = Readonly<Record<string, Column>>;

type ValueOf<C> = C extends Column<infer Value> ? Value : never;

/** All that a table's row holds. */
export type RowOf<C extends Columns> = { readonly [K in keyof C]: ValueOf<C[K]> };

/** What the app's own code may see of a row. */
export type ShownOf<C extends Columns> = {
  readonly [K in keyof C as C[K] extends Column<unknown, 'client' | 'code'> ? K : never]: ValueOf<C[K]>;
};

type NullableKey<C extends Columns> = {
  [K in keyof C]: null extends ValueOf<C[K]> ? K : never;
}[keyof C];

/** A row to be inserted: what may be null can be left out. */
export type NewRow<C extends Columns> = Omit<RowOf<C>, NullableKey<C>> &
  Partial<Pick<RowOf<C>, NullableKey<C>>>;

function column<Value>(kind: ColumnKind, length?: number): Column<Value, 'code'> {
  return { kind, isNullable: false, visibility: 'code', ...(length !== undefined && { length }) };
}

export const uuid = () => column<string>('uuid');
export const text = (length: number) => column<string>('text', length);
export const longText = () => column<string>('long-text');
export const words = () => column<readonly string[]>('words');
export const json = () => column<Readonly<Record<string, unknown>>>('json');
export const digest = () => column<Buffer>('digest');
export const time = () => column<Date>('time');
export const integer = () => column<number>('integer');
export const boolean = () => column<boolean>('boolean');

export function nullable<Value, V extends Visibility>(of: Column<Value, V>): Column<Value | null, V> {
  return { ...of, isNullable: true } as Column<Value | null, V>;
}

/** Shows a column to clients. */
export function onWire<Value>(of: Column<Value>, meta: Column['meta'] = {}): Column<Value, 'client'> {
  return { ...of, visibility: 'client', meta };
}

/** Keeps a column inside latchkey. */
export function internal<Value>(of: Column<Value>): Column<Value, 'internal'> {
  return { ...of, visibility: 'internal' };
}

/** Keeps a column inside latchkey, and out of the log. */
export function secret<Value>(of: Column<Value>): Column<Value, 'secret'> {
  return { ...of, visibility: 'secret' };
}

/** Gives a column a name that differs from its attribute's. */
export function named<Value, V extends Visibility>(name: string, of: Column<Value, V>): Column<Value, V> {
  return { ...of, name };
}

export function isShown({ visibility }: Column): boolean {
  return visibility === 'client' || visibility === 'code';
}

/** `expiresAt` is `expires_at` in SQL and on the wire. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The name of an attribute's column. */
export function columnName(attribute: string, { name = snakeCase(attribute) }: Column): string {
  return name;
}
