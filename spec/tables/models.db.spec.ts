import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DataTypes, type IncludeOptions, type Model, type Sequelize } from 'sequelize';
import { admin, apiKeys, auditLog, oauth } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { dialect } from '../support/database.js';
import { fixedProvider } from '../support/fixed-provider.js';

const plugins = [
  password({ username: true }),
  oauth(),
  fixedProvider(),
  apiKeys(),
  admin({ adminEmails: [ada.email] }),
  auditLog(),
] as const;

describe('auth.models', () => {
  let app: SpecApp<typeof plugins>;
  let userId: string;
  beforeAll(async () => {
    app = await startApp({ plugins, config: { baseUrl: 'http://app.example.com' } });
    userId = (await app.auth.credential.signUp(ada))!.user.id;
    await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    await app.auth.apiKeys.create(userId, { name: 'program', scopes: ['read', 'write'] });
    await app.auth.models.Account.create({
      id: '01900000-0000-7000-8000-000000000001',
      userId,
      provider: 'fixed',
      issuer: 'https://fixed.example',
      providerAccountId: 'ada',
      scopes: '',
      accessToken: 'sealed',
      relinkRequired: false,
      refreshedAt: new Date(),
      createdAt: new Date(),
      updatedAt: new Date(),
    });
  });
  afterAll(() => app.stop());

  test('has every table that is on', () => {
    expect(Object.keys(app.auth.models).sort()).toEqual([
      'Account',
      'AccountChange',
      'ApiKey',
      'AuditEvent',
      'CarriedSession',
      'Device',
      'DeviceToken',
      'ImportKey',
      'ImportedUser',
      'OAuthFlow',
      'OneTimeToken',
      'OutboxEntry',
      'RateLimit',
      'RecentBrowser',
      'Session',
      'UnfinishedSignIn',
      'User',
    ]);
  });

  test.each([
    ['User', ['passwordHash', 'authEpoch']],
    ['Session', ['tokenHash', 'authEpoch', 'remembered']],
    ['ApiKey', ['keyHash']],
    ['Account', ['accessToken', 'refreshToken', 'idToken', 'tokenType', 'refreshLease']],
  ] as const)('reads of %s neither hashes, tokens nor epochs by default', async (name, hidden) => {
    const model = app.auth.models[name] as typeof app.auth.models.User;
    const found = (await model.findOne())?.toJSON() ?? {};
    expect(found).toHaveProperty('id');
    for (const attribute of hidden) expect(found).not.toHaveProperty(attribute);
    const whole = (await model.unscoped().findOne())?.toJSON() ?? {};
    for (const attribute of hidden) expect(whole).toHaveProperty(attribute);
  });

  test.each([
    ['no attributes', {}],
    ['excluded attributes', { attributes: { exclude: ['email'] } }],
    ['additional attributes', { attributes: { include: [['email', 'address']] } }],
    ['the attributes themselves', { attributes: ['id', 'passwordHash', 'authEpoch'] }],
  ])('hide columns in an include of the app’s own model with %s', async (_name, options) => {
    const { User } = app.auth.models;
    const sequelize = User.sequelize as Sequelize;
    const Note = sequelize.define('Note', { userId: DataTypes.UUID }, { timestamps: false });
    Note.belongsTo(User, { as: 'author', foreignKey: 'userId', constraints: false });
    await Note.sync();
    await Note.create({ userId });
    const include = { model: User, as: 'author', ...options } as IncludeOptions;
    const note = await Note.findOne({ include });
    const author = note?.get('author') as Model;
    expect(author.get('id')).toBe(userId);
    for (const shown of [JSON.stringify(note), JSON.stringify(author)])
      expect(shown).not.toMatch(/passwordHash|authEpoch/);
    // Printed, an instance also names the attributes that were asked for.
    expect(inspect(note, { depth: 9 })).not.toContain('bcrypt');
    const whole = await Note.findOne({ include: { model: User.unscoped(), as: 'author' } });
    expect(JSON.stringify(whole)).toContain('passwordHash');
    // Asking for everything once does not change what others get.
    expect(JSON.stringify(await Note.findOne({ include }))).not.toContain('passwordHash');
    await Note.drop();
  });

  test('hide columns in the JSON of what the app has written itself', async () => {
    const { RateLimit } = app.auth.models;
    const values = { keyHash: Buffer.alloc(32, 7), hits: 7, expiresAt: new Date() };
    const made = await RateLimit.create(values as never);
    expect(JSON.parse(JSON.stringify(made))).not.toHaveProperty('keyHash');
    const stored = await RateLimit.unscoped().findByPk(values.keyHash as never);
    expect(stored?.get('hits')).toBe(7);
    await stored?.destroy();
    expect(await RateLimit.count()).toBe(0);
  });

  test('are associated with each other, and hide the same columns when they are included', async () => {
    const { User, Session } = app.auth.models;
    const user = await User.findByPk(userId, { include: ['sessions', 'accounts', 'apiKeys'] });
    const json = JSON.parse(JSON.stringify(user));
    expect(json).toMatchObject({
      email: ada.email,
      sessions: [{ userId }],
      accounts: [{ provider: 'fixed', providerAccountId: 'ada' }],
      apiKeys: [{ name: 'program', scopes: 'read write' }],
    });
    expect(JSON.stringify(json)).not.toMatch(/hash|epoch|sealed|bcrypt/i);
    const session = JSON.parse(JSON.stringify(await Session.findOne({ include: 'user' })));
    expect(session.user).toMatchObject({ id: userId, email: ada.email });
    expect(JSON.stringify(session)).not.toMatch(/hash|epoch|bcrypt/i);
  });

  test('hide hashes that are primary keys too', async () => {
    const { OneTimeToken, OAuthFlow, RateLimit } = app.auth.models;
    const expiresAt = new Date(Date.now() + 60_000);
    const token = { userId, purpose: 'spec', email: ada.email, expiresAt };
    const hash = (fill: number) => Buffer.alloc(32, fill);
    await OneTimeToken.bulkCreate([1, 2, 3].map((fill) => ({ ...token, tokenHash: hash(fill) })));
    await RateLimit.create({ keyHash: hash(1), hits: 1, blockedUntil: null, expiresAt });
    await OAuthFlow.create({
      stateHash: hash(1),
      browserHash: hash(2),
      provider: 'fixed',
      sessionId: null,
      callbackUrl: '/',
      redirectUri: '/',
      sealed: 'sealed',
      expiresAt,
    });
    const tokens = await OneTimeToken.findAll({ include: 'user' });
    expect(JSON.parse(JSON.stringify(tokens))).toMatchObject(Array(3).fill({ user: { id: userId } }));
    const found = [...tokens, ...(await RateLimit.findAll()), ...(await OAuthFlow.findAll())];
    expect(found).toHaveLength(5);
    expect(JSON.stringify(found)).not.toMatch(/hash|epoch|sealed|bcrypt/i);
    for (const token of await OneTimeToken.unscoped().findAll({ limit: 2 })) await token.destroy();
    expect(await OneTimeToken.count()).toBe(1);
  });
});

// Sequelize has always ignored them.
(dialect === 'mysql' ? test : test.skip)(
  'options of the driver in a URL do not change what times are',
  async () => {
    const app = await startApp({
      plugins: [password()],
      config: ({ url }) => Promise.resolve({ database: `${url}?timezone=%2B05:00&dateStrings=true` }),
    });
    const { user } = (await app.auth.credential.signUp(ada)) ?? {};
    const row = await app.auth.models.User.findByPk(user?.id ?? '');
    expect(row?.get('createdAt')).toEqual(user?.createdAt);
    await app.stop();
  },
);
