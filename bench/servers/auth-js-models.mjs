import SequelizeAdapter, { models } from '@auth/sequelize-adapter';
import { DataTypes, Sequelize } from 'sequelize';

/** The Sequelize adapter of Auth.js, with what the page shows as additional columns. */
export function authJs(url) {
  const sequelize = new Sequelize(url, {
    logging: false,
    pool: { max: 10, min: 0, acquire: 2000, idle: 10_000 },
  });
  const options = { underscored: true, timestamps: false };
  const User = sequelize.define(
    'user',
    { ...models.User, createdAt: DataTypes.DATE(3), updatedAt: DataTypes.DATE(3) },
    options,
  );
  const Session = sequelize.define(
    'session',
    {
      ...models.Session,
      createdAt: DataTypes.DATE(3),
      ipAddress: DataTypes.STRING,
      userAgent: DataTypes.STRING,
    },
    options,
  );
  // The tables exist, as in production.
  const adapter = SequelizeAdapter(sequelize, { synchronize: false, models: { User, Session } });
  return { sequelize, adapter };
}
