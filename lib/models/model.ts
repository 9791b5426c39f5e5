import { DataTypes, type Model, type ModelAttributes, type ModelStatic } from 'sequelize';
import type { Database } from '../database/database.js';
import { type Column, type Columns, columnName, isShown } from './column.js';
import type { TableDeclaration } from './table.js';

/** What a Sequelize model of ours reads from a column: what is stored, which for lists and objects is text. */
type StoredOf<C> =
  C extends Column<infer Value>
    ? Value extends null | string | number | boolean | Date | Buffer
      ? Value
      : string
    : never;

/** A table's Sequelize model, for the app's own queries. Internal columns are left out of its default scope. */
export type ModelOf<T> =
  T extends TableDeclaration<infer C>
    ? ModelStatic<Model<{ readonly [K in keyof C]: StoredOf<C[K]> }>>
    : never;

type AnyModel = ModelStatic<Model>;

/** The Sequelize models of tables, by name, associated with the model `User`. */
export function defineModels<T extends Readonly<Record<string, TableDeclaration>>>(
  database: Database,
  declarations: T,
): { readonly [K in keyof T]: ModelOf<T[K]> } {
  const models = Object.fromEntries(
    Object.entries(declarations).map(([name, declaration]) => [
      name,
      defineModel(database, name, declaration),
    ]),
  );
  for (const [name, { ofUser }] of Object.entries(declarations)) {
    if (!ofUser || !models.User || !models[name]) continue;
    models.User.hasMany(models[name], { as: ofUser, foreignKey: 'userId', constraints: false });
    models[name].belongsTo(models.User, { as: 'user', foreignKey: 'userId', constraints: false });
  }
  return models as never;
}

interface ModelManager {
  removeModel(model: unknown): void;
  addModel(model: unknown): void;
}

/**
 * The model is taken off Sequelize's own list at once: the app's `sequelize.models` may have a `User` of its own, and its
 * `sync()` must not touch tables that migrations maintain.
 */
function defineModel(database: Database, name: string, { name: table, columns }: TableDeclaration): AnyModel {
  const { sequelize } = database;
  const taken = sequelize.models[name];
  const model = sequelize.define(name, attributesOf(columns), {
    tableName: database.table(table),
    // What follows undoes what the app may have set for its own models with Sequelize's `define` option.
    timestamps: false,
    paranoid: false,
    version: false,
    freezeTableName: true,
    schema: '',
  });
  // Sequelize merges these with the app's, whatever is passed to define().
  const ours = { hooks: {}, validate: {}, scopes: {}, getterMethods: {}, setterMethods: {} };
  Object.assign((model as unknown as { options: object }).options, ours);
  (model as unknown as { refreshAttributes(): void }).refreshAttributes();
  // Not the key, without which a model's instances can be neither saved nor told apart.
  const hidden = Object.keys(columns)
    .slice(1)
    .filter((attribute) => !isShown(columns[attribute] as Column));
  model.addScope('defaultScope', hidden.length > 0 ? { attributes: { exclude: hidden } } : {}, {
    override: true,
  });
  const { modelManager } = sequelize as unknown as { modelManager: ModelManager };
  modelManager.removeModel(model);
  if (taken) modelManager.addModel(taken);
  return model;
}

function attributesOf(columns: Columns): ModelAttributes {
  return Object.fromEntries(
    Object.entries(columns).map(([attribute, column], index) => [
      attribute,
      {
        type: typeOf(column),
        field: columnName(attribute, column),
        allowNull: column.isNullable,
        // Each of our tables has its key first.
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
      return DataTypes.DATE(3);
    case 'integer':
      return DataTypes.INTEGER;
    case 'boolean':
      return DataTypes.BOOLEAN;
    default:
      return DataTypes.TEXT;
  }
}
