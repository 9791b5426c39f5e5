import connectSessionSequelize from 'connect-session-sequelize';
import session from 'express-session';
import { DataTypes, Sequelize } from 'sequelize';

/** The app's users, and the store of connect-session-sequelize with its defaults. */
export function expressSessionModels(url) {
  const sequelize = new Sequelize(url, {
    logging: false,
    pool: { max: 10, min: 0, acquire: 2000, idle: 10_000 },
  });
  const User = sequelize.define(
    'User',
    {
      id: { type: DataTypes.UUID, primaryKey: true },
      email: { type: DataTypes.STRING, unique: true },
      emailVerifiedAt: DataTypes.DATE(3),
      passwordHash: DataTypes.STRING,
      createdAt: DataTypes.DATE(3),
      updatedAt: DataTypes.DATE(3),
    },
    { tableName: 'users', underscored: true },
  );
  const Store = connectSessionSequelize(session.Store);
  return { sequelize, User, store: new Store({ db: sequelize }) };
}
