import type { Model, ModelAttributes, ModelStatic } from 'sequelize';
import type { Database } from '../database/database.js';

interface ModelManager {
  removeModel(model: unknown): void;
  addModel(model: unknown): void;
}

/**
 * Defines a Sequelize model over one of our tables. It is taken off Sequelize's own list at once: the app's
 * `sequelize.models` may hold a `User` of its own, and its `sync()` must not touch tables that migrations keep.
 */
export function defineModel<Row extends object>(
  database: Database,
  name: string,
  table: string,
  attributes: ModelAttributes<Model<Row>, Row>,
): ModelStatic<Model<Row>> {
  const { sequelize } = database;
  const taken = sequelize.models[name];
  const model = sequelize.define<Model<Row>, Row>(name, attributes, {
    tableName: database.table(table),
    underscored: true,
    // What follows undoes what the app may have set for its own models with Sequelize's `define` option.
    timestamps: false,
    paranoid: false,
    version: false,
    freezeTableName: true,
    schema: '',
    hooks: {},
    scopes: {},
    defaultScope: {},
  });
  // Sequelize merges these with the app's, whatever is given above.
  Object.assign((model as unknown as { options: object }).options, {
    hooks: {},
    validate: {},
    defaultScope: {},
    getterMethods: {},
    setterMethods: {},
  });
  const { modelManager } = sequelize as unknown as { modelManager: ModelManager };
  modelManager.removeModel(model);
  if (taken) modelManager.addModel(taken);
  return model;
}
