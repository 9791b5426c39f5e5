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
export class Column<Value = unknown, V extends Visibility = Visibility> {
  readonly isNullable: boolean = false;
  readonly visibility: V = 'code' as V;
  /** Where it is not the attribute's name in snake_case. */
  readonly name?: string;
  /** What the OpenAPI document says of the value beside its type. */
  readonly meta?: Readonly<Record<string, string>>;
  /** For the type system alone. */
  declare readonly value?: Value;

  constructor(
    readonly kind: ColumnKind,
    /** In characters, for text. */
    readonly length?: number,
  ) {}

  nullable(): Column<Value | null, V> {
    return this.#with({ isNullable: true });
  }

  /** Shows the column to clients. */
  onWire(meta?: Readonly<Record<string, string>>): Column<Value, 'client'> {
    return this.#with({ visibility: 'client', ...(meta && { meta }) });
  }

  /** Keeps the column inside latchkey. */
  internal(): Column<Value, 'internal'> {
    return this.#with({ visibility: 'internal' });
  }

  /** Keeps the column inside latchkey, and out of the log. */
  secret(): Column<Value, 'secret'> {
    return this.#with({ visibility: 'secret' });
  }

  /** Gives the column a name that differs from its attribute's. */
  named(name: string): Column<Value, V> {
    return this.#with({ name });
  }

  #with<C>(changes: Partial<Column>): C {
    return Object.assign(new Column(this.kind, this.length), this, changes) as C;
  }
}

function of<Value>(kind: ColumnKind, length?: number): Column<Value, 'code'> {
  return new Column(kind, length);
}

/** The kinds of column, as a table's declaration names them. */
export const column = {
  uuid: () => of<string>('uuid'),
  text: (length: number) => of<string>('text', length),
  longText: () => of<string>('long-text'),
  words: () => of<readonly string[]>('words'),
  json: () => of<Readonly<Record<string, unknown>>>('json'),
  digest: () => of<Digest>('digest'),
  time: () => of<Date>('time'),
  integer: () => of<number>('integer'),
  boolean: () => of<boolean>('boolean'),
};

/** A SHA-256. */
export interface Digest extends Buffer {}

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
