import { afterEach, expect, test } from '@jest/globals';
import { DataTypes, type Sequelize } from 'sequelize';
import { AuthError, createAuth } from '../../../lib/index.js';
import { ada, memoryLogger, password, SECRET } from '../../support/app.js';
import { createDatabase } from '../../support/database.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { ownRows } from '../../support/own-rows.js';
import { settled } from '../../support/sessions.js';

const plugin = () => password({ concealExistingEmails: true });

let app: MailApp<readonly [ReturnType<typeof plugin>]> | undefined;
afterEach(async () => {
  await app?.stop();
  app = undefined;
});

const KNOWN = ada.email;
const UNKNOWN = 'nobody@example.com';
const signUp = async (email: string) => {
  if (!app) throw new Error('there is no app');
  const { status, body, headers } = await app.http.post('/auth/signup/credential').send({ ...ada, email });
  const { date: _, ...others } = headers;
  return { status, body, others };
};

/** An app with an account of Ada's, whose hook refuses the next ones. */
const startRefusing = async (hook: 'beforeCreateUser' | 'afterCreateUser', error: () => Error) => {
  let refuses = false;
  const refuse = () => {
    if (refuses) throw error();
  };
  const started = await startMailApp({
    plugins: [plugin()],
    config: { rateLimit: false, hooks: { [hook]: refuse } },
  });
  app = started;
  await signUp(KNOWN);
  await settled(started.auth);
  refuses = true;
  return started;
};

test.each([
  ['a refusal', () => new AuthError('sign_up_refused')],
  ['any error', () => new Error('the plan is sold out')],
])(
  'a hook that throws %s after the account is made does not reveal whether there was one',
  async (_what, error) => {
    const app = await startRefusing('afterCreateUser', error);
    app.mails.length = 0;
    const [known, unknown] = [await signUp(KNOWN), await signUp(UNKNOWN)];
    expect(known.status).toBe(202);
    expect(unknown).toEqual(known);
    await settled(app.auth);
    // Whoever owns the mailbox learns what they may know.
    expect(app.mails.map(({ to, kind }) => [to, kind])).toEqual([[KNOWN, 'reset-password']]);
    expect(await app.auth.users.find({ email: UNKNOWN })).toBeNull();
    expect(app.log.join('\n')).toContain('a sign-up was refused by a hook or the table of user.model');
  },
);

test('a hook before the account is made refuses either', async () => {
  await startRefusing('beforeCreateUser', () => new AuthError('sign_up_refused'));
  const [known, unknown] = [await signUp(KNOWN), await signUp(UNKNOWN)];
  expect(known.body.code).toBe('sign_up_refused');
  expect(unknown).toEqual(known);
});

test('a row that the table of the app refuses does not reveal whether there was an account', async () => {
  const database = await createDatabase();
  const own = ownRows(database, { name: { type: DataTypes.STRING(80), unique: true } });
  const logger = memoryLogger();
  const auth = createAuth({
    ...own.config,
    secret: SECRET,
    rateLimit: false,
    baseUrl: 'http://app.example.com',
    email: { send: () => undefined },
    plugins: [plugin()],
    logger,
  });
  await own.model.sync({ logging: false });
  await auth.migrate();
  await own.model.create({ name: 'taken' });
  await auth.credential.signUp({ ...ada, fields: { name: 'Ada' } });
  for (const email of [KNOWN, UNKNOWN])
    expect(await auth.credential.signUp({ ...ada, email, fields: { name: 'taken' } })).toBeNull();
  expect(await auth.users.find({ email: UNKNOWN })).toBeNull();
  expect(await own.model.count()).toBe(2);
  await auth.close();
  await (own.config.database as Sequelize).close();
  await database.drop();
});
