import { apiKeys, createAuth, credentialPassword } from 'latchkey';
import { sequelize, User } from './models.js';

const DAY = 24 * 60 * 60;

export const config = {
  database: sequelize,
  secret: String(process.env.AUTH_SECRET),
  tablePrefix: 'auth_', // `users` is the app's own
  bearerEnabled: true,
  user: {
    model: User,
    foreignKey: 'authId',
    fields: {
      handle: { type: 'string', required: true, maxLength: 30 },
      bio: { type: 'string', default: '' },
      role: { type: 'string', enum: ['author', 'admin'], default: 'author', input: 'none' },
    },
  },
  session: { idleTimeout: 60 * DAY, lifetime: 60 * DAY },
  plugins: [credentialPassword(), apiKeys()],
} as const;

export const auth = createAuth({
  ...config,
  hooks: {
    // The row has an email too, which articles and administrators' pages read.
    createRow: ({ id, email }, fields, { transaction }) =>
      User.create({ ...fields, authId: id, email } as never, { transaction }),
    afterUpdateUser: ({ id, email }, changed, { transaction }) =>
      changed.includes('email') &&
      User.update({ email: String(email) }, { where: { authId: id }, transaction }),
  },
});
