import type { Model, ModelStatic, Sequelize } from 'sequelize';
import type { Database } from '../database/database.js';
import { verbatim } from '../database/literal.js';
import type { Selected } from '../tables/packed.js';

/** The alias of the column that joins rows with accounts. */
const KEY = 'r_key';

/** A column of the SELECT, and the attribute that it becomes. */
interface Reader {
  readonly attribute: string;
  /** Its name in the statement. */
  readonly key: string;
  /** The column's type in the database, for SQLite. */
  readonly type: string | undefined;
}

/** The SELECT of the app's table. */
interface Source {
  readonly sql: string;
  readonly selected: readonly Selected[];
  readonly readers: readonly Reader[];
  /** The attributes that Sequelize passes to the instances as the attributes that it has read. */
  readonly attributes: readonly unknown[];
}

/**
 * Reads the app's rows as Sequelize itself would, but as part of latchkey's own statements. Sequelize writes the
 * SELECT, with the model's default scope and without deleted rows, and builds the instances.
 */
export class RowSource {
  #source: Source | undefined;
  #typeOf: ReadonlyMap<string, string> = new Map();

  constructor(
    private readonly database: Database,
    private readonly model: AppModel,
    private readonly foreignKey: string,
  ) {}

  /** `r.r_0 AS r_0, …`, for a statement that joins {@link from}. */
  get selected(): readonly Selected[] {
    return this.#read().selected;
  }

  /** The rows with the alias `r`, whose `r_key` is the account's id. */
  get from(): string {
    return `(${this.#read().sql}) r`;
  }

  /** @param types the types of the table's columns, which determine how SQLite's values are converted */
  useTypes(types: ReadonlyMap<string, string>): void {
    this.#typeOf = types;
    this.#source = undefined;
  }

  /**
   * Requires that the model's scope can be read, and that it includes the attributes of the users' fields.
   *
   * @throws TypeError with the fix in its message
   */
  check(fields: readonly string[]): void {
    const { attributes } = this.#build();
    const names = new Set(attributes.map((one) => (Array.isArray(one) ? one[1] : one)));
    const [missing] = fields.filter((name) => !names.has(name));
    if (missing !== undefined)
      throw new TypeError(
        `latchkey: user.fields.${missing}: the default scope of ${this.model.name} excludes it: ` +
          "set the field's output to 'none', or set user.model to a scope that includes it, such as model.unscoped()",
      );
  }

  /** Builds the instance. Null if the statement found no row. */
  read(raw: Readonly<Record<string, unknown>>): AppRow | null {
    if ((raw[KEY] ?? null) === null) return null;
    const { readers, attributes } = this.#read();
    const values = Object.fromEntries(
      readers.map((reader) => [reader.attribute, this.#parse(raw[reader.key], reader)]),
    );
    const [row] = this.model.bulkBuild([values], {
      isNewRecord: false,
      raw: true,
      attributes: [...attributes],
    } as object);
    return row ?? null;
  }

  // The SELECT is built on the first use, because the app can add scopes to its model after createAuth.
  #read(): Source {
    this.#source ??= this.#build();
    return this.#source;
  }

  // These steps have the same order as in Sequelize's own findAll.
  #build(): Source {
    const { model, foreignKey } = this;
    const internals = internalsOf(model);
    const scope: FindOptions = {};
    model._injectScope(scope);
    if (scope.include?.length || scope.group)
      throw new TypeError(
        `latchkey: the default scope of ${model.name} has include or group, which user.model cannot have: ` +
          'set user.model to a scope without them, such as model.unscoped()',
      );
    const options: FindOptions = { attributes: scope.attributes, where: scope.where };
    model._expandAttributes(options);
    options.attributes ??= Object.keys(model.getAttributes());
    const attributes = model._injectDependentVirtualAttributes(options.attributes);
    internals.constructor.Utils.mapFinderOptions(options, model);
    const { where } = model._paranoidClause(model, options);
    const selected = options.attributes.map((one) => (typeof one === 'string' ? ([one, one] as const) : one));
    const readers = selected.map(([column, attribute], index) => ({
      attribute,
      key: `r_${index}`,
      type: typeof column === 'string' ? this.#typeOf.get(column) : undefined,
    }));
    const aliased = selected.map(([column], index) => [column, `r_${index}`] as const);
    const sql = internals
      .getQueryInterface()
      .queryGenerator.selectQuery(
        model.getTableName(),
        { attributes: [...aliased, [columnOf(model, foreignKey), KEY]], where },
        model,
      );
    const names = [...readers.map(({ key }) => key), KEY];
    return {
      sql: verbatim(sql.replace(/;\s*$/, '')),
      selected: names.map((name) => ({ sql: `r.${name}`, name, isPlain: false })),
      readers,
      attributes,
    };
  }

  /** Converts a value as Sequelize does after the driver. */
  #parse(given: unknown, { attribute, type }: Reader): unknown {
    const { sequelize } = this.model;
    const value = own(given);
    if (this.database.dialect === 'sqlite') {
      const { applyParsers } = internalsOf(this.model).dialect.Query.prototype;
      return type && applyParsers ? applyParsers.call({ sequelize }, type, value) : value;
    }
    // The driver `mariadb` does not know which columns contain JSON.
    if (sequelize.getDialect() !== 'mariadb' || typeof value !== 'string') return value;
    const { key } = (this.model.getAttributes()[attribute]?.type ?? {}) as { key?: string };
    return key === 'JSON' ? JSON.parse(value) : value;
  }
}

/** Copies a value, because requests with the same token share a row of the result, but must not share its objects. */
function own(value: unknown): unknown {
  if (value instanceof Date) return new Date(value);
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value ?? '') === Object.prototype;
  return isPlain ? structuredClone(value) : value;
}

/** A row of the app: an instance of its model. */
export type AppRow = Model;

type Attribute = string | readonly [unknown, string];

/**
 * The parts of the app's model that latchkey uses. Sequelize's types omit some of them, and the model can come from
 * another copy of Sequelize.
 */
export type AppModel = ModelStatic<AppRow> & {
  readonly sequelize: Sequelize;
  _injectScope(options: FindOptions): void;
  _expandAttributes(options: FindOptions): void;
  _injectDependentVirtualAttributes(attributes: readonly Attribute[]): readonly Attribute[];
  runHooks(name: string, ...given: unknown[]): Promise<void>;
  _paranoidClause(model: unknown, options: FindOptions): FindOptions;
};

/** The options of a SELECT in Sequelize. */
export interface FindOptions {
  attributes?: readonly Attribute[];
  where?: unknown;
  include?: readonly unknown[];
  group?: unknown;
}

/** The parts of Sequelize that write and read SQL. */
interface Internals {
  readonly constructor: { readonly Utils: { mapFinderOptions(options: FindOptions, model: unknown): void } };
  readonly dialect: {
    readonly Query: { prototype: { applyParsers?(this: unknown, type: string, value: unknown): unknown } };
  };
  getQueryInterface(): { readonly queryGenerator: QueryGenerator };
}

interface QueryGenerator {
  selectQuery(table: unknown, options: FindOptions, model: unknown): string;
  quoteTable(table: unknown): string;
  quoteIdentifier(name: string): string;
}

/** The parts of Sequelize that write and read SQL for a model. */
export function internalsOf(model: AppModel): Internals {
  return model.sequelize as unknown as Internals;
}

/** The model's table in SQL. */
export function quotedTable(model: AppModel): string {
  return internalsOf(model).getQueryInterface().queryGenerator.quoteTable(model.getTableName());
}

/** The column of an attribute. */
export function columnOf(model: AppModel, attribute: string): string {
  return model.getAttributes()[attribute]?.field ?? attribute;
}

/**
 * Requires that a model can hold the rows of accounts.
 *
 * @throws TypeError with the problem and the fix in its message
 */
export function checkModel(
  value: unknown,
  { foreignKey, fields, database }: { foreignKey: string; fields: readonly string[]; database: unknown },
): AppModel {
  const model = value as AppModel;
  if (typeof database === 'string')
    throw mistake(
      'user.model requires the Sequelize instance of the model: set database to this instance instead of a URL',
    );
  if (model.sequelize !== database)
    throw mistake(
      `user.model: ${model.name} belongs to another Sequelize instance than database: set database to the model's instance`,
    );
  const attributes = model.getAttributes();
  if (!Object.hasOwn(attributes, foreignKey))
    throw mistake(
      `user.foreignKey: ${model.name} has no attribute ${foreignKey}: add it, as a unique DataTypes.UUID, or set another attribute`,
    );
  const missing = fields.filter((name) => !Object.hasOwn(attributes, name));
  if (missing.length > 0)
    throw mistake(
      `user.fields.${missing[0]}: ${model.name} has no attribute ${missing.join(', ')}: add it to the model, or remove the field`,
    );
  return model;
}

/**
 * Excludes the account's id from the JSON of the app's rows. Otherwise, a response of the app such as `res.json(row)`
 * would contain the id as soon as the model has the attribute. A model with its own `toJSON` decides for itself, and a
 * primary key is not excluded.
 */
export function hideFromJson(given: AppModel, foreignKey: string): void {
  let model = given;
  // A scope is a subclass, but the app's queries build instances of the model itself.
  while (Object.hasOwn(model, 'scoped')) model = Object.getPrototypeOf(model);
  if (model.getAttributes()[foreignKey]?.primaryKey) return;
  const { toJSON }: { toJSON: HidingJson } = model.prototype;
  if (toJSON[HIDDEN]) {
    toJSON[HIDDEN].add(foreignKey);
    return;
  }
  if (toJSON !== sequelizeModel(model).prototype.toJSON) return;
  const hidden = new Set([foreignKey]);
  function hiding(this: Model) {
    const values = Object.entries(toJSON.call(this)).filter(([name]) => !hidden.has(name));
    return Object.fromEntries(values);
  }
  const value = Object.assign(hiding, { [HIDDEN]: hidden });
  Object.defineProperty(model.prototype, 'toJSON', { value, configurable: true, writable: true });
}

/** The attributes that the `toJSON` of a model excludes. All copies of this package in a process share them. */
const HIDDEN = Symbol.for('latchkey.hidden');

interface HidingJson {
  (this: Model): object;
  readonly [HIDDEN]?: Set<string>;
}

/** Sequelize's class `Model`, which can belong to another copy of Sequelize. */
function sequelizeModel(model: AppModel): AppModel {
  const parent = Object.getPrototypeOf(model);
  return parent.prototype === undefined ? model : sequelizeModel(parent);
}

function mistake(message: string): TypeError {
  return new TypeError(`latchkey: ${message}`);
}
