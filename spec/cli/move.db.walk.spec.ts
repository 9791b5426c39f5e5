// The command that gives the rows of an app their accounts, on a table that others refer to in every way.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { hash } from 'bcrypt';
import { SECRET } from '../support/app.js';
import { type CliProject, startProject } from '../support/cli.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';

const CONFIG = `import { createAuth, credentialPassword } from 'latchkey';
  import { sqlite } from 'latchkey/sqlite';
  import { DataTypes, Sequelize } from 'sequelize';
  const url = process.env.DATABASE_URL;
  const sequelize = url.startsWith('sqlite:')
    ? new Sequelize({ ...sqlite(url.slice('sqlite:'.length)), logging: false })
    : new Sequelize(url, { logging: false });
  export const User = sequelize.define('User', {
    authId: { type: DataTypes.UUID, unique: true, field: 'auth_id' },
    nickname: DataTypes.STRING,
  }, { tableName: 'users', timestamps: false });
  export const auth = createAuth({
    database: sequelize,
    secret: process.env.SECRET,
    tablePrefix: 'auth_',
    user: process.env.NO_MODEL ? {} : { model: User, foreignKey: 'authId' },
    plugins: [credentialPassword({ username: true, bcryptCost: 4 })],
  });`;

const id = {
  sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  mysql: 'INTEGER PRIMARY KEY AUTO_INCREMENT',
  postgres: 'SERIAL PRIMARY KEY',
}[dialect];
const refers = (to: string, then: string) =>
  `INTEGER${then === 'SET NULL' ? '' : ' NOT NULL'}, FOREIGN KEY (${to.slice(0, -1)}_id) REFERENCES ${to} (id) ON DELETE ${then}`;
const TABLES = [
  `CREATE TABLE users (id ${id}, email VARCHAR(200) NOT NULL UNIQUE, username VARCHAR(40), nickname VARCHAR(40),
    password_hash VARCHAR(100) NOT NULL, email_verified INTEGER NOT NULL DEFAULT 0)`,
  `CREATE TABLE posts (id ${id}, title VARCHAR(40) NOT NULL, user_id ${refers('users', 'CASCADE')})`,
  `CREATE TABLE orders (id ${id}, total INTEGER NOT NULL, user_id ${refers('users', 'RESTRICT')})`,
  `CREATE TABLE visits (id ${id}, page VARCHAR(40) NOT NULL, user_id ${refers('users', 'SET NULL')})`,
  `CREATE TABLE comments (id ${id}, body VARCHAR(40) NOT NULL, post_id ${refers('posts', 'CASCADE')})`,
];
const NAMES = ['users', 'posts', 'orders', 'visits', 'comments'];
const password = 'an analytical engine';

let project: CliProject;
let database: SpecDatabase;
let hashed: string;
beforeAll(async () => {
  project = await startProject('sequelize');
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.mjs': CONFIG });
  hashed = await hash(password, 4);
}, 60_000);
afterAll(() => project.remove());

afterEach(() => database.drop());
beforeEach(async () => {
  database = await createDatabase();
  for (const table of TABLES) await rows(database, table);
  for (const [number, name] of ['ada', 'grace', 'Joan', 'mary'].entries()) {
    const person = { email: `${name}@example.com`, name, hashed, verified: number % 2 };
    await rows(
      database,
      `INSERT INTO users (email, username, nickname, password_hash, email_verified)
       VALUES (:email, :name, :name, :hashed, :verified)`,
      person,
    );
    const userId = number + 1;
    await rows(database, 'INSERT INTO posts (title, user_id) VALUES (:name, :userId)', { name, userId });
    await rows(database, 'INSERT INTO orders (total, user_id) VALUES (:userId, :userId)', { userId });
    await rows(database, 'INSERT INTO visits (page, user_id) VALUES (:name, :userId)', { name, userId });
    await rows(database, 'INSERT INTO comments (body, post_id) VALUES (:name, :userId)', { name, userId });
  }
});

const latchkey = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
  project.call(args, { DATABASE_URL: database.url, SECRET, ...more });
const move = async (...args: string[]) => {
  const { code, stdout, stderr } = await latchkey(['move', '--model', 'User', '--json', ...args]);
  return { code, stderr, report: JSON.parse(stdout) };
};
/** Every row of every table of the app, without what the move adds. */
const everything = async () => {
  const all: Record<string, unknown> = {};
  for (const name of NAMES)
    all[name] = (await rows(database, `SELECT * FROM ${name} ORDER BY id`)).map(
      ({ auth_id: _, ...row }) => row,
    );
  return all;
};
const columnsOfUsers = async () =>
  Object.keys(await database.sequelize.getQueryInterface().describeTable('users'));

test('gives every row its account, and changes nothing else, in any table', async () => {
  const before = await everything();
  const trial = await move('--dry-run');
  expect(trial).toMatchObject({ code: 0, report: { dryRun: true, rows: 4, skipped: [] } });
  expect(trial.report.columns).toEqual({
    email: 'email',
    username: 'username',
    passwordHash: 'password_hash',
    emailVerified: 'email_verified',
  });
  expect(await columnsOfUsers()).not.toContain('auth_id');
  expect(await everything()).toEqual(before);

  const moved = await move();
  expect(moved).toMatchObject({ code: 0, report: { dryRun: false, rows: 4, skipped: [] } });
  expect(moved.report.statements).toEqual(trial.report.statements);
  expect(moved.report.statements).toEqual([
    expect.stringMatching(/^ALTER TABLE .users. ADD COLUMN .auth_id. \w+/),
    expect.stringMatching(/^CREATE UNIQUE INDEX .users_auth_id_unique. ON .users. /),
  ]);
  expect(await everything()).toEqual(before);
  const joined = `SELECT a.email AS email, a.email_proof AS proof FROM auth_users a JOIN users u
    ON u.auth_id = a.id AND u.email = a.email ORDER BY u.id`;
  const names = ['ada', 'grace', 'joan', 'mary'];
  await rows(database, "UPDATE users SET email = 'joan@example.com' WHERE email = 'Joan@example.com'");
  expect(await rows(database, joined)).toEqual(
    names.map((name, number) => ({ email: `${name}@example.com`, proof: number % 2 ? 'mailbox' : 'none' })),
  );
  await rows(database, "UPDATE users SET email = 'Joan@example.com' WHERE email = 'joan@example.com'");

  // Again: nothing is left to do.
  expect(await move()).toMatchObject({ code: 0, report: { statements: [], rows: 4, skipped: [] } });
  expect(await move('--dry-run')).toMatchObject({ code: 0, report: { statements: [], rows: 4 } });
  expect(await rows(database, 'SELECT id FROM auth_users')).toHaveLength(4);

  // What is left, by hand.
  const { left } = moved.report;
  expect(left.at(-1)).toMatch(/^ALTER TABLE .users. DROP COLUMN .password_hash.$/);
  for (const statement of left) await rows(database, statement);
  const { users, ...others } = before as { users: { password_hash?: string }[] };
  expect(await everything()).toEqual({ ...others, users: users.map(({ password_hash: _, ...row }) => row) });
  const again = await move();
  expect(again).toMatchObject({ code: 0, report: { rows: 4, left: [] } });
});

test('names the rows that have no account, and each column that would be left behind', async () => {
  await rows(database, "UPDATE users SET password_hash = 'md5:0123' WHERE id = 2");
  await rows(database, "UPDATE users SET username = 'ADA' WHERE id = 4");
  const wrong = [
    { ref: '2', code: 'unknown_hash', detail: expect.any(String) },
    { ref: '4', code: 'username_taken', detail: expect.any(String) },
  ];
  expect(await move('--dry-run')).toMatchObject({ code: 1, report: { rows: 2, skipped: wrong } });
  expect(await move()).toMatchObject({ code: 1, report: { rows: 2, skipped: wrong } });
  await rows(database, "UPDATE users SET username = 'mary' WHERE id = 4");
  await rows(database, 'UPDATE users SET password_hash = :hashed WHERE id = 2', { hashed });
  expect(await move()).toMatchObject({ code: 0, report: { rows: 4, skipped: [] } });

  for (const name of ['banned', 'verified']) {
    await rows(database, `ALTER TABLE users ADD COLUMN ${name} VARCHAR(40) DEFAULT 'pending'`);
    expect((await move()).report.error.message).toMatch(new RegExp(`^${name}: .*--ignore ${name}`));
    await rows(database, `ALTER TABLE users DROP COLUMN ${name}`);
  }
  await rows(database, 'ALTER TABLE users ADD COLUMN totp_secret VARCHAR(40)');
  const refused = await move();
  expect(refused).toMatchObject({
    code: 1,
    report: { error: { message: expect.stringMatching(/^totp_secret: .*--ignore/) } },
  });
  expect(await move('--ignore', 'totp_secret')).toMatchObject({ code: 0 });
  await rows(database, 'ALTER TABLE users ADD COLUMN password VARCHAR(40)');
  expect((await move('--ignore', 'totp_secret')).report.error.message).toMatch(
    /^passwordHash could come from password_hash or password/,
  );
  const chosen = await move('--ignore', 'totp_secret', '--column', 'passwordHash=password_hash');
  expect(chosen).toMatchObject({ code: 0, report: { columns: { passwordHash: 'password_hash' } } });
});

// Each is a process, and none reaches the database.
(dialect === 'sqlite' ? test : test.skip).each([
  [['move'], {}, 2, /required option '--model <name>'/],
  [['move', '--model', 'Person'], {}, 2, /user\.model in the config is User/],
  [['move', '--model', 'User'], { NO_MODEL: 'yes' }, 1, /the config has no user\.model: set user/],
  [['move', '--model', 'User', '--column', 'mail=email'], {}, 2, /the keys are email, username/],
  [['move', '--model', 'User', '--column', 'email=mail'], {}, 2, /the table has id, email/],
  [['users', 'orphans'], { NO_MODEL: 'yes' }, 1, /set user\.model/],
] as const)('%j is refused with what to do', async (args, env, code, message) => {
  const ended = await latchkey(args, env);
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
});

test('users orphans lists the accounts that have no row, and deletes them', async () => {
  await move();
  await rows(database, 'DELETE FROM orders WHERE user_id = 3');
  await rows(database, 'DELETE FROM users WHERE id = 3');
  const listed = JSON.parse((await latchkey(['users', 'orphans', '--json'])).stdout);
  expect(listed).toEqual({ deleted: false, users: [expect.objectContaining({ email: 'joan@example.com' })] });
  expect(JSON.parse((await latchkey(['users', 'orphans', '--delete', '--json'])).stdout)).toEqual({
    deleted: true,
    users: listed.users,
  });
  expect(JSON.parse((await latchkey(['users', 'orphans', '--json'])).stdout).users).toEqual([]);
  expect(await rows(database, 'SELECT id FROM auth_users')).toHaveLength(3);
  expect(JSON.parse((await latchkey(['users', 'list', '--json'])).stdout).users).toHaveLength(3);
});
