import { DataTypes, type Model, type ModelStatic } from 'sequelize';
import type { Database } from '../database/database.js';
import { defineModel } from './define.js';

/** A key by which a program acts for a user. The key itself is not here: only its hash is stored. */
export interface ApiKey {
  /** UUID, version 7. Public: it names the key in a list, and opens nothing. */
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** How the key begins, so that people can tell their keys apart. */
  readonly start: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  /** Null for a key without end. */
  readonly expiresAt: Date | null;
  /** Written at most once a minute. */
  readonly lastUsedAt: Date | null;
}

/** A row of `api_keys`, as its model has it. */
export interface ApiKeyRow extends Omit<ApiKey, 'scopes'> {
  /** Separated by spaces. */
  readonly scopes: string;
  readonly keyHash: Buffer;
}

export type ApiKeyModel = ModelStatic<Model<ApiKeyRow>>;

export function defineApiKey(database: Database): ApiKeyModel {
  return defineModel<ApiKeyRow>(database, 'ApiKey', 'api_keys', {
    id: { type: DataTypes.UUID, primaryKey: true },
    userId: { type: DataTypes.UUID, allowNull: false },
    name: { type: DataTypes.STRING(100), allowNull: false },
    start: { type: DataTypes.STRING(16), allowNull: false },
    keyHash: { type: DataTypes.BLOB, allowNull: false },
    scopes: { type: DataTypes.TEXT, allowNull: false },
    createdAt: { type: DataTypes.DATE(3), allowNull: false },
    expiresAt: { type: DataTypes.DATE(3) },
    lastUsedAt: { type: DataTypes.DATE(3) },
  });
}
