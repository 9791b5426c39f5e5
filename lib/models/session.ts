import { DataTypes, type Model, type ModelStatic } from 'sequelize';
import type { Database } from '../database/database.js';
import { defineModel } from './define.js';

/** A sign-in that still holds. The token that proves it is not here: only its hash is stored. */
export interface Session {
  /** UUID, version 7. Public: it names the session in a list, and opens nothing. */
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  /** When its user last proved who they are: at sign-in, or at a later reauthentication. */
  readonly authenticatedAt: Date;
  /** Written at most once a `touchInterval`. */
  readonly lastActiveAt: Date;
  /** The absolute end. The session ends earlier when it is idle for longer than `idleTimeout`. */
  readonly expiresAt: Date;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

/** A row of `sessions`, as its model has it. */
export interface SessionRow extends Session {
  readonly tokenHash: Buffer;
  readonly authEpoch: number;
  /** Whether its cookie outlives the browser (`remember_me`). */
  readonly remembered: boolean;
}

export type SessionModel = ModelStatic<Model<SessionRow>>;

export function defineSession(database: Database): SessionModel {
  return defineModel<SessionRow>(database, 'Session', 'sessions', {
    id: { type: DataTypes.UUID, primaryKey: true },
    userId: { type: DataTypes.UUID, allowNull: false },
    tokenHash: { type: DataTypes.BLOB, allowNull: false },
    authEpoch: { type: DataTypes.INTEGER, allowNull: false },
    remembered: { type: DataTypes.BOOLEAN, allowNull: false },
    createdAt: { type: DataTypes.DATE(3), allowNull: false },
    authenticatedAt: { type: DataTypes.DATE(3), allowNull: false },
    lastActiveAt: { type: DataTypes.DATE(3), allowNull: false },
    expiresAt: { type: DataTypes.DATE(3), allowNull: false },
    ipAddress: { type: DataTypes.STRING(45) },
    userAgent: { type: DataTypes.STRING(255) },
  });
}
