import { afterEach, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { ada, SECRET, type SpecApp, startApp } from '../support/app.js';

let app: SpecApp<never> | undefined;
afterEach(async () => {
  await app?.stop();
  app = undefined;
});

const fields = {
  name: { type: 'string', maxLength: 80, required: true },
  plan: { type: 'string', enum: ['free', 'pro'], default: 'free', input: 'none' },
  newsletter: { type: 'boolean', default: false },
  bornAt: { type: 'date' },
  score: { type: 'number', output: 'admin' },
  level: { type: 'integer', minimum: 1, maximum: 9 },
  settings: { type: 'json' },
} as const;

const start = async () => {
  app = (await startApp({ config: { user: { fields } } })) as never;
  return app as unknown as SpecApp<never>;
};

test('fields stand flat in the sign-up and in the user, with their defaults', async () => {
  const { http } = await start();
  const bornAt = '1815-12-10T00:00:00.000Z';
  const body = { ...ada, name: 'Ada', born_at: bornAt, level: 3, settings: { darkMode: true } };
  const { body: made } = await http.post('/auth/signup/credential').send(body).expect(201);
  expect(made.user).toMatchObject({
    name: 'Ada',
    plan: 'free',
    newsletter: false,
    born_at: bornAt,
    level: 3,
    settings: { darkMode: true },
  });
  expect(made.user).not.toHaveProperty('score');
});

test.each([
  ['a required one is missing', {}, '/name'],
  ['one is only for code', { name: 'Ada', plan: 'pro' }, '/plan'],
  ['one is not declared', { name: 'Ada', role: 'admin' }, '/role'],
  ['one is too long', { name: 'a'.repeat(81) }, '/name'],
  ['one has another type', { name: 'Ada', newsletter: 'yes' }, '/newsletter'],
  ['a number is too large', { name: 'Ada', level: 10 }, '/level'],
  ['a date is no date', { name: 'Ada', born_at: '1815-12-10' }, '/born_at'],
  ['a string has a NUL', { name: 'A\0da' }, '/name'],
])('a sign-up is refused and makes nothing if %s', async (_case, body, pointer) => {
  const { http, auth } = await start();
  const refused = await http.post('/auth/signup/credential').send({ ...ada, ...body });
  expect(refused.status).toBe(422);
  expect(refused.body.errors.map((one: { pointer: string }) => one.pointer)).toEqual([pointer]);
  expect(await (auth as { models: { User: { count(): Promise<number> } } }).models.User.count()).toBe(0);
});

test.each([
  ['email', { type: 'string' }],
  ['two_words', { type: 'string' }],
  ['level', { type: 'integer', maxLength: 5 }],
  ['level', { type: 'integer', minimum: 5, maximum: 1 }],
  ['level', { type: 'integer', default: 1.5 }],
  ['plan', { type: 'string', enum: [1] }],
  ['plan', { type: 'string', required: true, input: 'none' }],
])('the config is refused with the field %s as %j', (name, options) => {
  const config = { database: 'sqlite:./never.db', secret: SECRET, user: { fields: { [name]: options } } };
  expect(() => createAuth(config as never)).toThrow(new RegExp(`^latchkey: user\\.fields\\.${name}`));
});
