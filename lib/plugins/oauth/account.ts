import { DataTypes, type Model, type ModelStatic } from 'sequelize';
import { Database } from '../../database/database.js';
import { defineModel } from '../../models/define.js';

/** A user's account at a provider. */
export interface Account {
  readonly provider: string;
  /** The provider's own id for the account. */
  readonly providerAccountId: string;
  readonly scopes: readonly string[];
  readonly accessTokenExpiresAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A row of `accounts`. The three tokens are sealed, each for its own row, provider and column. */
export interface AccountRow {
  readonly id: string;
  readonly userId: string;
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** Separated by spaces. */
  readonly scopes: string;
  readonly tokenType: string | null;
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
  readonly idToken: string | null;
  readonly accessTokenExpiresAt: Date | null;
  /** The provider has ended the grant: only linking again helps. */
  readonly relinkRequired: boolean;
  /** Who is refreshing the tokens just now, and until when they have the say. */
  readonly refreshLease: string | null;
  readonly refreshLeaseUntil: Date | null;
  readonly refreshedAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type AccountModel = ModelStatic<Model<AccountRow>>;

export function defineAccount(database: Database): AccountModel {
  return defineModel<AccountRow>(database, 'Account', 'accounts', {
    id: { type: DataTypes.UUID, primaryKey: true },
    userId: { type: DataTypes.UUID, allowNull: false },
    provider: { type: DataTypes.STRING(64), allowNull: false },
    issuer: { type: DataTypes.STRING(255), allowNull: false },
    subject: { type: DataTypes.STRING(255), allowNull: false },
    scopes: { type: DataTypes.TEXT, allowNull: false },
    tokenType: { type: DataTypes.STRING(64) },
    accessToken: { type: DataTypes.TEXT },
    refreshToken: { type: DataTypes.TEXT },
    idToken: { type: DataTypes.TEXT },
    accessTokenExpiresAt: { type: DataTypes.DATE(3) },
    relinkRequired: { type: DataTypes.BOOLEAN, allowNull: false },
    refreshLease: { type: DataTypes.UUID },
    refreshLeaseUntil: { type: DataTypes.DATE(3) },
    refreshedAt: { type: DataTypes.DATE(3), allowNull: false },
    createdAt: { type: DataTypes.DATE(3), allowNull: false },
    updatedAt: { type: DataTypes.DATE(3), allowNull: false },
  });
}

/** A row of {@link AccountRow}'s columns, whose names begin with `account_`. */
export function toAccountRow(row: Record<string, unknown>, model: AccountModel): AccountRow {
  const attributes = Object.entries(model.getAttributes()).map(([name, { field, type }]) => {
    const value = row[`account_${field}`];
    const { key } = type as unknown as { key: string };
    if (value === null) return [name, null];
    if (key === 'DATE') return [name, Database.toDate(value as Date | string)];
    return [name, key === 'BOOLEAN' ? Boolean(value) : value];
  });
  return Object.fromEntries(attributes);
}

export function toAccount(row: AccountRow): Account {
  return {
    provider: row.provider,
    providerAccountId: row.subject,
    scopes: row.scopes.split(' ').filter(Boolean),
    accessTokenExpiresAt: row.accessTokenExpiresAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
