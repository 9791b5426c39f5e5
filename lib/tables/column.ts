/** The type of a column. */
export type ColumnKind =
  | 'uuid'
  | 'text'
  /** Text of up to 64 KiB. */
  | 'long-text'
  /** Text of up to 16 MiB. */
  | 'huge-text'
  /** Words separated by spaces, such as scopes. */
  | 'words'
  | 'json'
  /** A JSON value of the app, whose keys latchkey does not rename. */
  | 'document'
  /** A SHA-256 hash. */
  | 'digest'
  /** A point in time, in milliseconds. */
  | 'time'
  /** A point in time in any of the years 1 to 9999, in milliseconds. */
  | 'any-time'
  /** An integer of 32 bits. */
  | 'integer'
  /** An integer of 64 bits in the database, and a safe integer in code. */
  | 'big-integer'
  | 'number'
  | 'boolean';

/**
 * Who can see a column. `client`: clients. `code`: the app's code, in types such as `Session` and in the models'
 * default scope. `admin`: administrators, and the models' default scope. `app`: only the models' default scope.
 * `internal`: only latchkey. `secret`: only latchkey, and statements that contain its values are not logged.
 */
export type Visibility = 'client' | 'code' | 'admin' | 'app' | 'internal' | 'secret';

/** Additional properties of a column's schema in the OpenAPI document. */
export type ColumnMeta = Readonly<Record<string, unknown>>;

/** Whether the export of a user's data contains a column: `true`, or the reason why the export omits it. */
export type Exported = true | string;

/** A column. Its database type, Sequelize attribute, SQL, TypeScript type and JSON are all derived from it. */
export class Column<
  Value = unknown,
  V extends Visibility = Visibility,
  E extends Exported | undefined = Exported | undefined,
> {
  readonly isNullable: boolean = false;
  readonly visibility: V = 'code' as V;
  /** Undefined until it is declared. Tables whose rows are exported only accept columns that declare it. */
  readonly inExport: E = undefined as E;
  /** The column's name, if it differs from the attribute's name in snake_case. */
  readonly name?: string;
  /** Whether text is compared byte by byte, so that case, accents and trailing spaces are significant. */
  readonly isExact: boolean = false;
  /** The value that the database stores if a statement does not contain one. */
  readonly defaultValue?: string | number;
  /** The attribute whose value is read in place of NULL. */
  readonly fallback?: string;
  /** Whether the app has chosen the name, so that it must be quoted in SQL: it could be a keyword, such as `order`. */
  readonly isQuoted: boolean = false;
  /** Additional properties of the schema in the OpenAPI document. */
  readonly meta?: ColumnMeta;
  /** The description of the schema in the OpenAPI document. */
  readonly description?: string;
  /** Exists only in the type system. */
  declare readonly value?: Value;

  constructor(
    readonly kind: ColumnKind,
    /** The maximum number of characters, for text and words. */
    readonly length?: number,
  ) {}

  /** Allows NULL. */
  nullable(): Column<Value | null, V, E> {
    return this.#with({ isNullable: true });
  }

  /** Makes the column visible to clients, and exports it. @param meta additional properties of its OpenAPI schema */
  onWire(meta?: ColumnMeta): Column<Value, 'client', true> {
    return this.#with({ visibility: 'client', inExport: true, ...(meta && { meta }) });
  }

  /** Shows the column to administrators only. @param meta additional properties of its OpenAPI schema */
  forAdmins(meta?: ColumnMeta): Column<Value, 'admin', E> {
    return this.#with({ visibility: 'admin', ...(meta && { meta }) });
  }

  /** Describes the column in the OpenAPI document, if a plugin or an option shows it to clients. */
  described(description: string): Column<Value, V, E> {
    return this.#with({ description });
  }

  /** Shows the column in the models only. */
  inModels(): Column<Value, 'app', E> {
    return this.#with({ visibility: 'app' });
  }

  /** Hides the column from clients and the app. */
  internal(): Column<Value, 'internal', E> {
    return this.#with({ visibility: 'internal' });
  }

  /** Hides the column from clients and the app, and keeps its values out of the log and of exports. */
  secret(): Column<Value, 'secret', string> {
    return this.#with({ visibility: 'secret', inExport: 'It is secret.' });
  }

  /** Includes the column in the export of a user's data. */
  exported(): Column<Value, V, true> {
    return this.#with({ inExport: true });
  }

  /** Excludes the column from the export of a user's data. @param because the reason, as a sentence */
  notExported(because: string): Column<Value, V, string> {
    return this.#with({ inExport: because });
  }

  /** Compares text byte by byte, which keys and values that identify an account require. */
  exact(): Column<Value, V, E> {
    return this.#with({ isExact: true });
  }

  /** Sets the value that the database stores if a statement does not contain one. */
  default(defaultValue: string | number): Column<Value, V, E> {
    return this.#with({ defaultValue });
  }

  /** Reads the value of another attribute in place of NULL. Models, which are for the app's own queries, do not. */
  orElse(fallback: string): Column<Value, V, E> {
    return this.#with({ fallback });
  }

  /** Quotes the name in SQL. */
  quoted(): Column<Value, V, E> {
    return this.#with({ isQuoted: true });
  }

  /** Sets the column's name, if it differs from the attribute's name in snake_case. */
  named(name: string): Column<Value, V, E> {
    return this.#with({ name });
  }

  #with<C>(changes: Partial<Column>): C {
    return Object.assign(new Column(this.kind, this.length), this, changes) as C;
  }
}

function of<Value>(kind: ColumnKind, length?: number): Column<Value, 'code', undefined> {
  return new Column(kind, length);
}

/** The constructors of columns, for the declaration of tables. */
export const column = {
  uuid: () => of<string>('uuid'),
  text: <T extends string = string>(length: number) => of<T>('text', length),
  longText: () => of<string>('long-text'),
  hugeText: () => of<string>('huge-text'),
  /** @param length the maximum number of characters; 64 KiB by default */
  words: (length?: number) => of<readonly string[]>('words', length),
  json: () => of<Readonly<Record<string, unknown>>>('json'),
  document: () => of<unknown>('document'),
  digest: () => of<Digest>('digest').notExported('It is a hash.'),
  time: () => of<Date>('time'),
  anyTime: () => of<Date>('any-time'),
  integer: () => of<number>('integer'),
  bigInteger: () => of<number>('big-integer'),
  /** A floating-point number of double precision. */
  number: () => of<number>('number'),
  boolean: () => of<boolean>('boolean'),
};

/** The last time that can be stored: ISO 8601 and MySQL support years up to 9999, less a day for time zones. */
export const LAST_TIME = Date.UTC(9999, 11, 31);

/** A SHA-256 digest. */
export interface Digest extends Buffer {}

/** The columns of a table, by attribute. */
export type Columns = Readonly<Record<string, Column>>;

/** Columns that all declare whether they are exported. */
export type DeclaredColumns = Readonly<Record<string, Column<unknown, Visibility, Exported>>>;

type ValueOf<C> = C extends Column<infer Value> ? Value : never;

/** A row with all columns of a table. */
export type RowOf<C extends Columns> = { readonly [K in keyof C]: ValueOf<C[K]> };

/** A row with the columns that the app's code can see. */
export type ShownOf<C extends Columns> = {
  readonly [K in keyof C as C[K] extends Column<unknown, 'client' | 'code'> ? K : never]: ValueOf<C[K]>;
};

type NullableKey<C extends Columns> = {
  [K in keyof C]: null extends ValueOf<C[K]> ? K : never;
}[keyof C];

/** A row to insert: nullable columns can be omitted. */
export type NewRow<C extends Columns> = Omit<RowOf<C>, NullableKey<C>> &
  Partial<Pick<RowOf<C>, NullableKey<C>>>;

const IN_MODELS: ReadonlySet<Visibility> = new Set(['client', 'code', 'admin', 'app']);

/** Whether the models' default scope includes a column. */
export function isInModels({ visibility }: Column): boolean {
  return IN_MODELS.has(visibility);
}

/** Whether the app's code can see a column, in types such as `Session`. */
export function isShown({ visibility }: Column): boolean {
  return visibility === 'client' || visibility === 'code';
}

/** Converts `expiresAt` to `expires_at`, as in SQL and JSON. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the name of an attribute's column. */
export function columnName(attribute: string, { name = snakeCase(attribute) }: Column): string {
  return name;
}

/** Returns the primary key of a table: its attribute, and the name of its column. */
export function keyOf(columns: Columns): { readonly attribute: string; readonly name: string } {
  const [first] = Object.entries(columns);
  if (!first) throw new TypeError('a table has no columns');
  return { attribute: first[0], name: columnName(...first) };
}

/** Converts an attribute's value to JSON: times to strings, and the keys of latchkey's own objects to snake_case. */
export function toJson(value: unknown, { kind }: Column): unknown {
  if (value instanceof Date) return value.toISOString();
  if (kind === 'document' || typeof value !== 'object' || value === null || Array.isArray(value))
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeCase(key), inner]));
}
