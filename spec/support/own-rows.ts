import { DataTypes, type Model, type ModelAttributes, type ModelOptions, type ModelStatic } from 'sequelize';
import type { AuthConfig } from '../../lib/index.js';
import type { SpecDatabase } from './database.js';
import { loggingSequelize, plainSequelize } from './statements.js';

export type Row = Model & Record<string, unknown>;

/** An app with its own model of users. Its table is called `users`, like latchkey's table by default. */
export function ownRows(
  database: SpecDatabase,
  attributes: ModelAttributes = {},
  options: ModelOptions = {},
  config: Partial<AuthConfig<never>> = {},
  hasLog = true,
) {
  const { sequelize, statements } = hasLog
    ? loggingSequelize(database)
    : { sequelize: plainSequelize(database), statements: [] };
  const model = sequelize.define(
    'AppUser',
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      authId: { type: DataTypes.UUID, unique: true, field: 'Auth Id' },
      name: { type: DataTypes.STRING(80), field: 'Full Name' },
      ...attributes,
    },
    { tableName: 'users', ...options },
  ) as ModelStatic<Row>;
  const { fields = {}, ...user } = config.user ?? {};
  return {
    model,
    statements,
    config: {
      database: sequelize,
      tablePrefix: 'auth_',
      ...config,
      user: {
        fields: { name: { type: 'string', maxLength: 80 }, ...fields },
        model,
        foreignKey: 'authId',
        ...user,
      },
    } satisfies Partial<AuthConfig<never>>,
  };
}
