import { afterEach, describe, expect, test } from '@jest/globals';
import { DataTypes, type ModelAttributes, type ModelStatic } from 'sequelize';
import { type AuthConfig, authRouter, requireSession } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { dialect } from '../support/database.js';
import { ownRows, type Row } from '../support/own-rows.js';
import { expectProblem } from '../support/problem.js';

const plugins = [password({ signInOnSignUp: true })] as const;

let app: SpecApp<typeof plugins>;
let AppUser: ModelStatic<Row>;
afterEach(() => app.stop());

async function start(attributes: ModelAttributes, config: Partial<AuthConfig<never>>) {
  app = await startApp({
    plugins,
    tables: { hasOwnRows: true },
    config: async (database) => {
      const own = ownRows(database, attributes, {}, config);
      AppUser = own.model;
      return own.config;
    },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/guarded', requireSession(auth), (req, res) => void res.json(req.auth.user));
    },
  });
  await AppUser.sync({ logging: false });
}

describe('a field has its own type, whatever that of the attribute', () => {
  test.each([
    ['number', DataTypes.DECIMAL(10, 2), 12.5],
    ['integer', DataTypes.BIGINT, 5],
    ['integer', DataTypes.STRING, 5],
    ['date', DataTypes.DATEONLY, '2026-01-02T00:00:00.000Z'],
    ['plainDate', DataTypes.DATEONLY, '2026-01-02'],
    ['plainDate', DataTypes.STRING(10), '2026-01-02'],
    ['boolean', DataTypes.SMALLINT, true],
    ['string', DataTypes.INTEGER, '12'],
  ] as const)('%s in %p', async (type, attribute, value) => {
    await start({ worth: { type: attribute, set: setter } }, { user: { fields: { worth: { type } } } });
    const browser = app.browser();
    const made = await browser.post('/auth/signup/credential').send({ ...ada, worth: value });
    expect(made.status).toBe(201);
    expect(made.body.user.worth).toBe(value);
    expect((await browser.get('/auth/me').expect(200)).body.user.worth).toBe(value);
    expect((await browser.get('/guarded').expect(200)).body.worth).toBe(value);
    const user = await app.auth.users.get(made.body.user.id);
    expect(user?.worth).toEqual(type === 'date' ? new Date(value as string) : value);
  });

  // PostgreSQL takes neither true for a number, nor a number for text.
  function setter(this: Row, value: unknown) {
    this.setDataValue('worth', typeof value === 'boolean' ? Number(value) : value);
  }

  test.each([
    ['integer', 'much'],
    ['number', 'much'],
    ['date', 'some day'],
    ['plainDate', '2026-02-30'],
  ] as const)('%s, or null if %p is none', async (type, stored) => {
    await start({ worth: DataTypes.STRING }, { user: { fields: { worth: { type } } } });
    const browser = app.browser();
    await browser.post('/auth/signup/credential').send(ada).expect(201);
    await AppUser.update({ worth: stored }, { where: {} });
    expect((await browser.get('/auth/me').expect(200)).body.user.worth).toBeNull();
  });
});

// SQLite stores anything in any column.
(dialect === 'sqlite' ? describe.skip : describe)('a value that its column cannot hold', () => {
  test.each([
    ['a long text', DataTypes.STRING(10), 'string', 'x'.repeat(11)],
    ['a large number', DataTypes.DECIMAL(4, 2), 'number', 1000],
    ['a value that an ENUM has not', DataTypes.ENUM('free', 'pro'), 'string', 'gold'],
  ] as const)('is refused with its pointer, and makes nothing: %s', async (_case, attribute, type, value) => {
    const other = DataTypes.STRING(20);
    await start(
      { worth: attribute, other },
      { user: { fields: { worth: { type }, other: { type: 'string' } } } },
    );
    const body = { ...ada, worth: value, other: 'x' };
    const refused = await app.http.post('/auth/signup/credential').send(body);
    await expectProblem(refused, 422, 'validation_failed');
    expect(refused.body.errors).toMatchObject([{ pointer: '/worth', code: 'invalid' }]);
    expect(await app.auth.models.User.count()).toBe(0);
    const browser = app.browser();
    await browser.post('/auth/signup/credential').send(ada).expect(201);
    await expectProblem(await browser.patch('/auth/me').send({ worth: value }), 422, 'validation_failed');
  });
});

test('what another table of the app refuses is the app to handle', async () => {
  let Team: ModelStatic<Row> | undefined;
  await start(
    {},
    {
      hooks: {
        createRow: async (user, { name }, { transaction }) => {
          await Team?.create({ name }, { transaction });
          await AppUser.create({ authId: user.id, name }, { transaction });
        },
      },
    },
  );
  Team = AppUser.sequelize?.define('Team', {
    name: { type: DataTypes.STRING, unique: true, validate: { notIn: [['root']] } },
  }) as ModelStatic<Row>;
  await Team.sync({ logging: false });
  const signUp = (email: string, name: string) =>
    app.http.post('/auth/signup/credential').send({ ...ada, email, name });
  await signUp('a@example.com', 'Ada').expect(201);
  await signUp('b@example.com', 'Ada').expect(500);
  await signUp('b@example.com', 'root').expect(500);
  expect(await app.auth.models.User.count()).toBe(1);
});

test('a field that the default scope leaves out, since nobody sees it, can be set to null', async () => {
  const fields = { ssn: { type: 'string', output: 'none' } } as const;
  await start({ ssn: DataTypes.STRING(20) }, { user: { fields } });
  AppUser.addScope('defaultScope', { attributes: { exclude: ['ssn'] } }, { override: true });
  const browser = app.browser();
  await browser
    .post('/auth/signup/credential')
    .send({ ...ada, ssn: '123' })
    .expect(201);
  const stored = async () => (await AppUser.unscoped().findOne())?.get('ssn');
  expect(await stored()).toBe('123');
  await browser.patch('/auth/me').send({ ssn: null }).expect(200);
  expect(await stored()).toBeNull();
});
