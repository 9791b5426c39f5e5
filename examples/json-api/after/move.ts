// Gives every user an account, once, with the password that they have. Stop the old app first. A run that broke off can
// be repeated.
import { createAuth } from 'latchkey';
import { DataTypes, QueryTypes } from 'sequelize';
import { config } from './auth.js';
import { sequelize, User } from './models.js';

interface OldUser {
  id: number;
  email: string;
  password_hash: string;
  handle: string;
}

const schema = sequelize.getQueryInterface();
const columns = await schema.describeTable('users');
if (!columns.auth_id) await schema.addColumn('users', 'auth_id', { type: DataTypes.UUID, unique: true });

let row: OldUser;
const auth = createAuth({
  ...config,
  hooks: {
    // The row is there already. It gets its account in the transaction that makes the account.
    createRow: (user, fields, { transaction }) =>
      User.update({ authId: user.id }, { where: { id: row.id }, transaction }),
  },
});
await auth.migrate();

const sql = 'SELECT id, email, password_hash, handle FROM users WHERE auth_id IS NULL ORDER BY id';
const rows = columns.password_hash ? await sequelize.query<OldUser>(sql, { type: QueryTypes.SELECT }) : [];
for (row of rows) {
  const { id, email, password_hash: passwordHash, handle } = row;
  await auth.users.create({ email, passwordHash, fields: { handle } }).catch((cause) => {
    throw new Error(`user ${id} (${email}) cannot be moved: ${cause.message}`, { cause });
  });
}
// Nobody needs it any more, and a second copy could be stolen too.
if (columns.password_hash) await schema.removeColumn('users', 'password_hash');
console.log(`${rows.length} users moved`);
await sequelize.close();
