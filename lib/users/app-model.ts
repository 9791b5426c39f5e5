import type { Model, ModelStatic, Sequelize } from 'sequelize';

/** A row of the app's: an instance of its model. */
export type AppRow = Model;

type Attribute = string | readonly [unknown, string];

/** What latchkey uses of the app's model, some of which Sequelize's types omit. It may come from another copy of Sequelize. */
export type AppModel = ModelStatic<AppRow> & {
  readonly sequelize: Sequelize;
  _injectScope(options: FindOptions): void;
  _expandAttributes(options: FindOptions): void;
  _injectDependentVirtualAttributes(attributes: readonly Attribute[]): readonly Attribute[];
  runHooks(name: string, ...given: unknown[]): Promise<void>;
  _paranoidClause(model: unknown, options: FindOptions): FindOptions;
};

/** Options of a SELECT of Sequelize's. */
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
 * @throws TypeError naming what does not fit, and its mend
 */
export function checkModel(
  value: unknown,
  { foreignKey, fields, database }: { foreignKey: string; fields: readonly string[]; database: unknown },
): AppModel {
  const model = value as AppModel;
  if (typeof database === 'string')
    throw mistake(
      'user.model needs the Sequelize instance of the model: set database to it instead of a URL',
    );
  if (model.sequelize !== database)
    throw mistake(
      `user.model: ${model.name} belongs to another Sequelize instance than database: set database to that of the model`,
    );
  const attributes = model.getAttributes();
  if (!Object.hasOwn(attributes, foreignKey))
    throw mistake(
      `user.foreignKey: ${model.name} has no attribute ${foreignKey}: add it, as a unique DataTypes.UUID, or name another`,
    );
  const missing = fields.filter((name) => !Object.hasOwn(attributes, name));
  if (missing.length > 0)
    throw mistake(
      `user.fields.${missing[0]}: ${model.name} has no attribute ${missing.join(', ')}: add it to the model, or leave the field out`,
    );
  return model;
}

function mistake(message: string): TypeError {
  return new TypeError(`latchkey: ${message}`);
}
