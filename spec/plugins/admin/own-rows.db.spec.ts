import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DataTypes, type ModelStatic } from 'sequelize';
import { admin, apiKeys, suspension } from '../../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { ownRows, type Row } from '../../support/own-rows.js';
import { expectProblem } from '../../support/problem.js';

const root = { email: 'root@example.com', password: 'a root of all admins' };
const plugins = [password(), admin({ adminEmails: [root.email] }), apiKeys(), suspension()] as const;
const fields = { plan: { type: 'string', enum: ['free', 'pro'], input: 'none', output: 'admin' } } as const;

let app: SpecApp<typeof plugins>;
let model: ModelStatic<Row>;
let statements: string[];
let browser: Awaited<ReturnType<typeof signedIn>>;

beforeEach(async () => {
  app = await startApp({
    plugins,
    config: async (database) => {
      const own = ownRows(
        database,
        { plan: { type: DataTypes.STRING(10) } },
        {},
        { user: { fields } as never },
      );
      ({ model, statements } = own);
      await own.model.sync();
      return own.config;
    },
  });
  browser = await signedIn(app, root);
  await app.auth.markEmailVerified((await browser.get('/auth/me').expect(200)).body.user.id);
});
afterEach(() => app.stop());

const rowOf = async (authId: string) => (await model.findOne({ where: { authId } }))?.get({ plain: true });

test('administrators create, see, change and delete users whose fields are in a model of the app', async () => {
  const { body } = await browser
    .post('/auth/admin/users')
    .send({ email: ada.email, name: 'Ada', plan: 'pro' })
    .expect(201);
  expect(body.user).toMatchObject({ email: ada.email, name: 'Ada', plan: 'pro', suspended_at: null });
  const { id } = body.user;
  expect(await rowOf(id)).toMatchObject({ name: 'Ada', plan: 'pro' });

  const listed = (await browser.get('/auth/admin/users?search=ada@').expect(200)).body.users;
  expect(listed).toEqual([body.user]);
  const changed = await browser.patch(`/auth/admin/users/${id}`).send({ name: 'Ada L.', plan: 'free' });
  expect(changed.body.user).toMatchObject({ name: 'Ada L.', plan: 'free' });
  expect(await rowOf(id)).toMatchObject({ name: 'Ada L.', plan: 'free' });
  expectProblem(await browser.patch(`/auth/admin/users/${id}`).send({ plan: 'x' }), 422, 'validation_failed');

  const suspended = await browser
    .post(`/auth/admin/users/${id}/suspend`)
    .send({ reason: 'spam' })
    .expect(200);
  expect(suspended.body.user).toMatchObject({ name: 'Ada L.', plan: 'free', suspension_reason: 'spam' });
  await expect(app.auth.createSession(id)).rejects.toMatchObject({ code: 'account_suspended' });
  await browser.post(`/auth/admin/users/${id}/reinstate`).expect(200);
  await browser.delete(`/auth/admin/users/${id}`).expect(204);
  expectProblem(await browser.get(`/auth/admin/users/${id}`), 404, 'user_not_found');
});

test('an API key of a suspended user is refused with the statement that finds it', async () => {
  const { user } = (await app.auth.credential.signUp(ada)) ?? {};
  const id = user?.id ?? '';
  const { key } = await app.auth.apiKeys.create(id, { name: 'program' });
  const call = () => app.http.get('/auth/me').set('x-service-api-key', key);
  await call().expect(200);
  await app.auth.suspension.suspend(id);
  statements.length = 0;
  expectProblem(await call(), 403, 'account_suspended');
  expect(statements).toHaveLength(1);
});
