const { createAuth, credentialPassword } = require('latchkey');
const { sequelize, User } = require('./models');

const DAY = 24 * 60 * 60;

const config = {
  database: sequelize,
  secret: process.env.AUTH_SECRET,
  tablePrefix: 'auth_', // `users` and `sessions` are the app's own
  user: {
    model: User,
    foreignKey: 'authId',
    fields: { name: { type: 'string', required: true, maxLength: 80 } },
  },
  session: { idleTimeout: 14 * DAY, lifetime: 90 * DAY },
  plugins: [credentialPassword({ identifier: 'username' })],
};

const auth = createAuth({
  ...config,
  hooks: {
    createRow: ({ id, username }, { name }, { transaction }) =>
      User.create({ authId: id, username, name }, { transaction }),
  },
});

module.exports = { auth, config };
