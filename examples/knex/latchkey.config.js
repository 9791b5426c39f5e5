import { createAuth, credentialPassword } from 'latchkey';
import { knex } from './db.js';

export const auth = createAuth({
  database: process.env.DATABASE_URL,
  tablePrefix: 'auth_',
  secret: process.env.AUTH_SECRET,
  plugins: [credentialPassword()],
  hooks: {
    // Runs in the transaction that creates the account, so no account is without a project.
    afterCreateUser: (user, { connection }) =>
      knex('projects').connection(connection).insert({ owner_id: user.id, title: 'My first project' }),
  },
});
