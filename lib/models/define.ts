import type { Model, ModelAttributes, ModelStatic, Transaction } from 'sequelize';
import { Database, type Replacements } from '../database/database.js';

interface ModelManager {
  removeModel(model: unknown): void;
  addModel(model: unknown): void;
}

/**
 * For every statement that goes through a model. The app's instance may log, and have hooks and defaults of its own:
 * they must not see what is secret here, nor change what is written.
 */
export const UNTOUCHED = { logging: false, hooks: false, omitNull: false } as const;

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

/**
 * Reads rows of a model past Sequelize's own reading, which follows whatever the app has set for its driver: times may
 * come as strings, and flags as numbers.
 *
 * @param rest what follows the table's name: `WHERE … ORDER BY …`
 */
export async function readRows<Row extends object>(
  database: Database,
  model: ModelStatic<Model<Row>>,
  rest: string,
  replacements: Replacements,
  transaction?: Transaction,
): Promise<Row[]> {
  const attributes = Object.entries(model.getAttributes()) as unknown as [string, Attribute][];
  const columns = attributes.map(([, { field }]) => field).join(', ');
  const sql = `SELECT ${columns} FROM ${String(model.getTableName())} ${rest}`;
  const rows = await database.select<Record<string, unknown>>(sql, replacements, transaction);
  return rows.map((row) => {
    const decoded = attributes.map(([name, { field, type }]) => [name, decode(row[field], type.key)]);
    return Object.fromEntries(decoded) as Row;
  });
}

/** What is known of a column. The type by its name: its class may be another copy of Sequelize's than ours. */
interface Attribute {
  field: string;
  type: { key: string };
}

function decode(value: unknown, type: string): unknown {
  if (value === null) return null;
  if (type === 'DATE') return Database.toDate(value as Date | string);
  return type === 'BOOLEAN' ? Boolean(value) : value;
}
