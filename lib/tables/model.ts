import { DataTypes, type Model, type ModelAttributes, type ModelStatic } from 'sequelize';
import type { Database } from '../database/database.js';
import { type Column, type Columns, columnName, isInModels } from './column.js';
import type { TableDeclaration } from './table.js';

/** The type that a model reads from a column. It is the stored value, which is text for lists and objects. */
type StoredOf<C> =
  C extends Column<infer Value>
    ? Value extends null | string | number | boolean | Date
      ? Value
      : Value extends Buffer
        ? Buffer
        : string
    : never;

/** The Sequelize model of a table, for the app's own queries. Its default scope excludes internal columns. */
export type ModelOf<T> =
  T extends TableDeclaration<infer C>
    ? ModelStatic<Model<{ readonly [K in keyof C]: StoredOf<C[K]> }>>
    : never;

/** The Sequelize models of tables, by name. */
export type ModelsOf<T> = { readonly [Name in keyof T]: ModelOf<T[Name]> };

type AnyModel = ModelStatic<Model>;

type Declarations = Readonly<Record<string, TableDeclaration>>;

/**
 * Returns a function that defines the Sequelize models of tables on first use. Most apps never use the models, and
 * defining them takes longer than the rest of `createAuth`.
 *
 * @throws TypeError if a field of users has the name of an association
 */
export function modelsOf<T extends Declarations>(database: Database, tables: T): () => ModelsOf<T> {
  requireFreeAssociations(tables);
  let models: ModelsOf<T> | undefined;
  return () => {
    models ??= defineModels(database, tables);
    return models;
  };
}

function requireFreeAssociations(tables: Declarations): void {
  const fields = tables.User?.columns ?? {};
  for (const { ofUser } of Object.values(tables)) {
    if (ofUser && Object.hasOwn(fields, ofUser))
      throw new TypeError(`latchkey: user.fields.${ofUser} is a name that latchkey uses: choose another`);
  }
}

/** Defines models, and their associations with `User`. */
function defineModels<T extends Declarations>(database: Database, declarations: T): ModelsOf<T> {
  const models = Object.fromEntries(
    Object.entries(declarations).map(([name, declaration]) => [
      name,
      defineModel(database, name, declaration),
    ]),
  );
  for (const [name, { ofUser, columns }] of Object.entries(declarations)) {
    const [model, { User }] = [models[name], models];
    if (!model || !User || !columns.userId) continue;
    model.belongsTo(User, { as: 'user', foreignKey: 'userId', constraints: false });
    if (!ofUser) continue;
    User.hasMany(model, { as: ofUser, foreignKey: 'userId', constraints: false });
  }
  return models as never;
}

interface ModelManager {
  removeModel(model: unknown): void;
  addModel(model: unknown): void;
}

/**
 * Defines a model, and removes it from `sequelize.models`, because the app might have its own `User` model, and the
 * app's `sync()` must not change tables that migrations maintain.
 */
function defineModel(database: Database, name: string, { name: table, columns }: TableDeclaration): AnyModel {
  const { sequelize } = database;
  const taken = sequelize.models[name];
  const model = sequelize.define(name, attributesOf(columns), {
    tableName: database.table(table),
    // Override the defaults that the app might have set with Sequelize's `define` option.
    timestamps: false,
    paranoid: false,
    version: false,
    freezeTableName: true,
    schema: '',
  });
  // Sequelize merges these options with the app's defaults, so they are replaced afterwards.
  const unmerged = { hooks: {}, validate: {}, scopes: {}, getterMethods: {}, setterMethods: {} };
  Object.assign((model as unknown as { options: object }).options, unmerged);
  (model as unknown as { refreshAttributes(): void }).refreshAttributes();
  const hidden = Object.keys(columns).filter((attribute) => !isInModels(columns[attribute] as Column));
  model.addScope('defaultScope', hidden.length > 0 ? { attributes: { exclude: hidden } } : {}, {
    override: true,
  });
  hideFromInstances(model, hidden);
  const { modelManager } = sequelize as unknown as { modelManager: ModelManager };
  modelManager.removeModel(model);
  if (taken) modelManager.addModel(taken);
  return model;
}

/**
 * Removes hidden columns from the results of queries, and from the JSON of instances that the app has built itself. The
 * default scope is not enough, because Sequelize does not apply it to an include that has its own `attributes`.
 * `unscoped()` includes all columns.
 */
function hideFromInstances(model: AnyModel, hidden: readonly string[]): void {
  const whole = new WeakSet<object>();
  const { unscoped, build } = model;
  const isHiding = (of: object) => hidden.length > 0 && !whole.has(of);
  model.unscoped = function (this: AnyModel) {
    const it = unscoped.call(this);
    whole.add(it);
    return it;
  } as typeof model.unscoped;
  const without = (values: object) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !hidden.includes(name)));
  // Sequelize builds instances of rows that it has read with `isNewRecord: false`.
  model.build = function (this: AnyModel, values: object, options?: { isNewRecord?: boolean }) {
    const isRead = options?.isNewRecord === false && values !== null && !Array.isArray(values);
    return build.call(this, (isRead && isHiding(this) ? without(values) : values) as never, options);
  } as typeof model.build;
  const prototype = model.prototype as Model;
  const { toJSON } = prototype;
  prototype.toJSON = function (this: Model) {
    const values = toJSON.call(this);
    return isHiding(this.constructor) ? without(values) : values;
  };
}

function attributesOf(columns: Columns): ModelAttributes {
  return Object.fromEntries(
    Object.entries(columns).map(([attribute, column], index) => [
      attribute,
      {
        type: typeOf(column),
        field: columnName(attribute, column),
        allowNull: column.isNullable,
        // The first column of every table is its primary key.
        primaryKey: index === 0,
      },
    ]),
  );
}

function typeOf({ kind, length }: Column) {
  switch (kind) {
    case 'uuid':
      return DataTypes.UUID;
    case 'text':
      return DataTypes.STRING(length);
    case 'digest':
      return DataTypes.BLOB;
    case 'time':
    case 'any-time':
      return DataTypes.DATE(3);
    case 'integer':
    case 'big-integer':
      return DataTypes.INTEGER;
    case 'number':
      return DataTypes.DOUBLE;
    case 'boolean':
      return DataTypes.BOOLEAN;
    default:
      return DataTypes.TEXT;
  }
}
