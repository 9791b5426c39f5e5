import { DataTypes, type Model, type ModelStatic } from 'sequelize';
import type { Database } from '../database/database.js';
import { defineModel } from './define.js';

/** A person with an account. Holds no secret: the password's hash never leaves `users.ts`. */
export interface User {
  /** UUID, version 7. */
  readonly id: string;
  /** In its canonical spelling. Null for a user made by a provider that proved no address. */
  readonly email: string | null;
  readonly username: string | null;
  /** When the user proved that the mailbox is theirs; null until then. */
  readonly emailVerifiedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A row of `users`, as its model has it. */
export interface UserRow extends User {
  readonly passwordHash: string | null;
  /** Copied into each session: raising it ends all sessions begun before, also one that is being made just now. */
  readonly authEpoch: number;
}

export type UserModel = ModelStatic<Model<UserRow>>;

export function defineUser(database: Database): UserModel {
  return defineModel<UserRow>(database, 'User', 'users', {
    id: { type: DataTypes.UUID, primaryKey: true },
    email: { type: DataTypes.STRING(254) },
    username: { type: DataTypes.STRING(30) },
    emailVerifiedAt: { type: DataTypes.DATE(3) },
    passwordHash: { type: DataTypes.STRING(255) },
    authEpoch: { type: DataTypes.INTEGER, allowNull: false },
    createdAt: { type: DataTypes.DATE(3), allowNull: false },
    updatedAt: { type: DataTypes.DATE(3), allowNull: false },
  });
}
