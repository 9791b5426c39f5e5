// Gives every user an account, once, with the password that they have. Stop the old app first. A run that broke off can
// be repeated.
const { createAuth } = require('latchkey');
const { DataTypes, QueryTypes } = require('sequelize');
const { config } = require('./auth');
const { sequelize, User } = require('./models');

async function move() {
  const schema = sequelize.getQueryInterface();
  const columns = await schema.describeTable('users');
  if (!columns.auth_id) await schema.addColumn('users', 'auth_id', { type: DataTypes.UUID, unique: true });

  let row;
  const auth = createAuth({
    ...config,
    // The row is there already. It gets its account in the transaction that makes the account.
    hooks: {
      createRow: (user, fields, { transaction }) =>
        User.update({ authId: user.id }, { where: { id: row.id }, transaction }),
    },
  });
  await auth.migrate();

  const sql = 'SELECT id, username, name, password_hash FROM users WHERE auth_id IS NULL ORDER BY id';
  const rows = columns.password_hash ? await sequelize.query(sql, { type: QueryTypes.SELECT }) : [];
  for (row of rows) {
    const { id, username, name, password_hash: passwordHash } = row;
    await auth.users.create({ username, passwordHash, fields: { name } }).catch((cause) => {
      throw new Error(`user ${id} (${username}) cannot be moved: ${cause.message}`, { cause });
    });
  }
  // Nobody needs it any more, and a second copy could be stolen too.
  if (columns.password_hash) await schema.removeColumn('users', 'password_hash');
  console.log(`${rows.length} users moved`);
}

move()
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  })
  .finally(() => sequelize.close());
