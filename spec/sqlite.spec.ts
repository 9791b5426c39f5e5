import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DataTypes, Sequelize } from 'sequelize';
import { createAuth } from '../lib/index.js';
import { sqlite } from '../lib/sqlite.js';
import { ada, password, SECRET } from './support/app.js';

let folder: string;
let sequelize: Sequelize;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-spec-'));
  sequelize = new Sequelize({ ...sqlite(join(folder, 'data/app.db')), logging: false });
});
afterEach(async () => {
  await sequelize.close();
  await rm(folder, { recursive: true, force: true });
});

test("an app's own instance on SQLite has its own models beside latchkey's, and foreign keys to them", async () => {
  const auth = createAuth({ database: sequelize, secret: SECRET, plugins: [password()] });
  await auth.migrate();
  const Note = sequelize.define('Note', { text: DataTypes.STRING });
  Note.belongsTo(auth.models.User, { as: 'user', foreignKey: { name: 'userId', allowNull: false } });
  await sequelize.sync();
  const { user } = (await auth.credential.signUp(ada))!;
  await Note.create({ text: 'hello', userId: user.id });
  await expect(Note.create({ text: 'hello', userId: 'nobody' })).rejects.toThrow(/FOREIGN KEY/);
  const notes = await Note.findAll({ include: { association: 'user', attributes: ['email'] } });
  expect(JSON.parse(JSON.stringify(notes))).toMatchObject([{ text: 'hello', user: { email: ada.email } }]);
});

test('twenty transactions of the app and sign-ups at once all succeed', async () => {
  const auth = createAuth({ database: sequelize, secret: SECRET, rateLimit: false, plugins: [password()] });
  await auth.migrate();
  const Note = sequelize.define('Note', { text: DataTypes.STRING });
  await sequelize.sync();
  const signUp = (i: number) => auth.credential.signUp({ ...ada, email: `ada${i}@example.com` });
  const write = (i: number) =>
    sequelize.transaction((transaction) => Note.create({ text: String(i) }, { transaction }));
  const ten = Array.from({ length: 10 }, (_, i) => i);
  await Promise.all(ten.flatMap((i): Promise<unknown>[] => [signUp(i), write(i)]));
  expect([await Note.count(), await auth.models.User.count()]).toEqual([10, 10]);
});

test('a statement of the app is prepared anew each time, because the columns of a table change', async () => {
  const select = async (sql = 'SELECT * FROM things') => (await sequelize.query(sql))[0];
  await sequelize.query('CREATE TABLE things (a, b)');
  await sequelize.query("INSERT INTO things VALUES (1, 'x')");
  expect(await select()).toEqual([{ a: 1, b: 'x' }]);
  await sequelize.query('ALTER TABLE things ADD COLUMN c DEFAULT 2');
  expect(await select()).toEqual([{ a: 1, b: 'x', c: 2 }]);
  await sequelize.query('ALTER TABLE things DROP COLUMN b');
  expect(await select()).toEqual([{ a: 1, c: 2 }]);
  expect(await select('PRAGMA index_list(things)')).toEqual([]);
  await sequelize.query('CREATE INDEX things_a ON things (a)');
  expect(await select('PRAGMA index_list(things)')).toHaveLength(1);
});

test('a lookup alone and the same one among others find the same, before and after a migration', async () => {
  const auth = createAuth({ database: sequelize, secret: SECRET, plugins: [password()] });
  await auth.migrate();
  const { user } = (await auth.credential.signUp(ada))!;
  const headers = { cookie: `latchkey=${(await auth.createSession(user.id)).token}` };
  const find = async () => (await auth.getSession({ headers })).user;
  const alone = await find();
  expect(await Promise.all([find(), find()])).toEqual([alone, alone]);
  await sequelize.query("ALTER TABLE users ADD COLUMN nickname DEFAULT 'ada'");
  expect(await find()).toEqual(alone);
});
