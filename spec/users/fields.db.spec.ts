import { afterEach, expect, test } from '@jest/globals';
import { admin, createAuth } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';

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
  birthday: { type: 'plainDate', label: 'Date of birth' },
  score: { type: 'number', output: 'admin' },
  level: { type: 'integer', minimum: 1, maximum: 9 },
  settings: { type: 'json' },
} as const;

const nested = (levels: number): unknown => (levels === 1 ? 1 : [nested(levels - 1)]);

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
  ['a day has a time', { name: 'Ada', birthday: '1815-12-10T00:00:00Z' }, '/birthday'],
  ['a day is not in the calendar', { name: 'Ada', birthday: '2026-02-29' }, '/birthday'],
  ['a day has the year 0', { name: 'Ada', birthday: '0000-12-31' }, '/birthday'],
  ['a string has a NUL', { name: 'A\0da' }, '/name'],
  ['a string is not well-formed', { name: 'A\ud800' }, '/name'],
  ['a required one is null', { name: null }, '/name'],
  ['a date has the year 0', { name: 'Ada', born_at: '0000-12-31T23:59:59Z' }, '/born_at'],
  ['a date has no such day', { name: 'Ada', born_at: '2026-02-30T00:00:00Z' }, '/born_at'],
  ['an integer has 33 bits', { name: 'Ada', level: 2 ** 32 + 1 }, '/level'],
  ['an integer is a fraction', { name: 'Ada', level: 1.5 }, '/level'],
  ['a json value has a NUL', { name: 'Ada', settings: { a: ['\0'] } }, '/settings'],
  ['a json key has a NUL', { name: 'Ada', settings: { 'a\0': 1 } }, '/settings'],
  ['a json value is nested too deeply', { name: 'Ada', settings: nested(33) }, '/settings'],
  [
    'a json value has a prototype',
    JSON.parse('{"name":"Ada","settings":{"a":[{"__proto__":1}]}}'),
    '/settings',
  ],
  ['one is of the prototype', JSON.parse('{"name":"Ada","__proto__":{"plan":"pro"}}'), '/__proto__'],
  ['one is the constructor', { name: 'Ada', constructor: { plan: 'pro' } }, '/constructor'],
  ['fields are nested', { name: 'Ada', fields: { plan: 'pro' } }, '/fields'],
  ['a name is in camelCase', { name: 'Ada', bornAt: '1815-12-10T00:00:00Z' }, '/bornAt'],
])('a sign-up is refused and makes nothing if %s', async (_case, body, pointer) => {
  const { http, auth } = await start();
  const refused = await http.post('/auth/signup/credential').send({ ...ada, ...body });
  expect(refused.status).toBe(422);
  expect(refused.body.errors.map((one: { pointer: string }) => one.pointer)).toEqual([pointer]);
  expect(await (auth as { models: { User: { count(): Promise<number> } } }).models.User.count()).toBe(0);
});

test('a day without a time is the same string everywhere, and is sorted as text', async () => {
  const { http, auth, database } = await start();
  const days = ['0001-01-01', '9999-12-31', '2024-02-29', '1815-12-10'];
  const { users } = auth as never as {
    users: {
      create(given: object): Promise<{ id: string; birthday: string }>;
      get(id: string): Promise<{ birthday: string }>;
      update(id: string, given: object): Promise<{ birthday: string }>;
    };
  };
  for (const [index, birthday] of days.entries()) {
    const body = { email: `a${index}@example.com`, password: ada.password, name: 'Ada', birthday };
    const { body: made } = await http.post('/auth/signup/credential').send(body).expect(201);
    expect([birthday, made.user.birthday, (await users.get(made.user.id)).birthday]).toEqual([
      birthday,
      birthday,
      birthday,
    ]);
  }
  const sorted = await rows(database, 'SELECT birthday FROM users ORDER BY birthday');
  expect(sorted.map((row) => row.birthday)).toEqual([...days].sort());
  const made = await users.create({ email: 'b@example.com', fields: { name: 'B', birthday: '1906-12-09' } });
  expect(made.birthday).toBe('1906-12-09');
  const changed = await users.update(made.id, { fields: { birthday: null } });
  expect(changed.birthday).toBeNull();
  await expect(users.update(made.id, { fields: { birthday: new Date() } })).rejects.toMatchObject({
    code: 'validation_failed',
  });
});

test.each([
  ['email', { type: 'string' }],
  ['two_words', { type: 'string' }],
  ['level', { type: 'integer', maxLength: 5 }],
  ['level', { type: 'integer', minimum: 5, maximum: 1 }],
  ['level', { type: 'integer', default: 1.5 }],
  ['plan', { type: 'string', enum: [1] }],
  ['plan', { type: 'string', label: '' }],
  ['plan', { type: 'string', label: 'a\nb' }],
  ['plan', { type: 'string', labels: { free: 'Free' } }],
  ['plan', { type: 'string', enum: ['free'], labels: { pro: 'Pro' } }],
  ['plan', { type: 'plainDate', default: '2026-02-30' }],
  ['checkboxes', { type: 'string' }],
  ['plan', { type: 'string', required: true, input: 'none' }],
])('the config is refused with the field %s as %j', (name, options) => {
  const config = { database: 'sqlite:./never.db', secret: SECRET, user: { fields: { [name]: options } } };
  expect(() => createAuth(config as never)).toThrow(new RegExp(`^latchkey: user\\.fields\\.${name}`));
});

test.each(['0001-01-01T00:00:00.000Z', '0099-06-01T12:30:00.123Z', '9999-12-31T23:59:59.999Z'])(
  'a date may be %s',
  async (bornAt) => {
    const { http } = await start();
    const body = { ...ada, name: 'Ada', born_at: bornAt };
    const { body: made } = await http.post('/auth/signup/credential').send(body).expect(201);
    expect(made.user.born_at).toBe(bornAt);
    const credentials = { credential: ada.email, password: ada.password };
    const { body: found } = await http.post('/auth/signin/credential').send(credentials).expect(200);
    expect(found.user.born_at).toBe(bornAt);
  },
);

test('extreme values come back as they were', async () => {
  const { http, auth } = await start();
  const settings = { text: '€ \\ \u2028 "', deep: nested(30), none: null, list: [1.5, true, ''] };
  const body = { ...ada, name: "x'é\\😀", settings, newsletter: null };
  const { body: made } = await http.post('/auth/signup/credential').send(body).expect(201);
  const expected = { name: "x'é\\😀", settings, newsletter: null };
  expect(made.user).toMatchObject(expected);
  const users = (auth as unknown as { users: { get(id: string): Promise<object> } }).users;
  expect(await users.get(made.user.id)).toMatchObject(expected);
});

test('the length of a string is counted in characters, as in its column', async () => {
  const short = { name: { type: 'string', minLength: 2, maxLength: 4 } } as const;
  const it = await startApp({ config: { user: { fields: short } } });
  try {
    const signUp = (name: string, index: number) =>
      it.http.post('/auth/signup/credential').send({ ...ada, email: `${index}@example.com`, name });
    for (const [index, name] of ['😀😀', '😀😀😀😀', 'abcd'].entries()) {
      const { body } = await signUp(name, index).expect(201);
      expect(body.user.name).toBe(name);
    }
    for (const [name, code] of [
      ['😀', 'too_short'],
      ['😀😀😀😀😀', 'too_long'],
      ['a'.repeat(9000), 'too_long'],
    ] as const) {
      const { body } = await signUp(name, 9).expect(422);
      expect(body.errors).toEqual([
        { pointer: '/name', code, detail: expect.stringMatching(/[24] characters$/) },
      ]);
    }
  } finally {
    await it.stop();
  }
});

test('administrators and code see fields with output admin, and only models those with none', async () => {
  const output = {
    score: { type: 'number', output: 'admin' },
    secret: { type: 'string', output: 'none' },
  } as const;
  const plugins = [password(), admin({ adminEmails: [ada.email] })] as const;
  const it = await startApp({ plugins, config: { user: { fields: output } } });
  try {
    const values = { score: 1.5e300, secret: 'x' };
    const { id } = await it.auth.users.create({ ...ada, emailVerified: true, fields: values });
    expect(await it.auth.users.get(id)).toMatchObject({ score: 1.5e300 });
    expect(await it.auth.users.get(id)).not.toHaveProperty('secret');
    expect((await it.auth.models.User.findByPk(id))?.toJSON()).toMatchObject(values);
    const browser = it.browser();
    const credentials = { credential: ada.email, password: ada.password };
    const { body } = await browser.post('/auth/signin/credential').send(credentials).expect(200);
    expect(body.user).not.toHaveProperty('score');
    expect((await browser.get('/auth/me').expect(200)).body.user).not.toHaveProperty('score');
    for (const path of ['/auth/admin/users', `/auth/admin/users/${id}`]) {
      const { body: seen } = await browser.get(path).expect(200);
      const user = seen.user ?? seen.users[0];
      expect(user).toMatchObject({ id, score: 1.5e300 });
      expect(user).not.toHaveProperty('secret');
    }
  } finally {
    await it.stop();
  }
});

test('the OpenAPI document describes fields in requests and responses', async () => {
  const { auth } = await start();
  const { schemas } = (
    auth as unknown as { openapi(): { components: { schemas: Record<string, never> } } }
  ).openapi().components;
  const {
    properties: input,
    required,
    additionalProperties,
  } = schemas.PostSignupCredentialRequest as never as {
    properties: Record<string, object>;
    required: string[];
    additionalProperties: boolean;
  };
  expect(required).toEqual(['email', 'password', 'name']);
  expect(additionalProperties).toBe(false);
  expect(input.name).toMatchObject({ type: 'string', maxLength: 80 });
  expect(input.level).toMatchObject({
    anyOf: [{ type: 'integer', minimum: 1, maximum: 9 }, { type: 'null' }],
  });
  expect(input.born_at).toMatchObject({ anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] });
  expect(input).not.toHaveProperty('plan');
  const { properties: user } = schemas.User as never as { properties: Record<string, object> };
  expect(user.birthday).toMatchObject({
    anyOf: [{ type: 'string', title: 'Date of birth', format: 'date' }, { type: 'null' }],
  });
  expect(user.plan).toMatchObject({ anyOf: [{ type: 'string', enum: ['free', 'pro'] }, { type: 'null' }] });
  expect(user.name).toMatchObject({ anyOf: [{ type: 'string', maxLength: 80 }, { type: 'null' }] });
  expect(user).not.toHaveProperty('score');
});

test('a form fills in fields of every type but json', async () => {
  const { http, auth } = await start();
  const form = new URLSearchParams({
    ...ada,
    name: 'Ada',
    newsletter: 'on',
    born_at: '1815-12-10T00:00:00Z',
    level: '3',
    redirect_to: '/welcome',
  });
  const answer = await http.post('/auth/signup/credential').type('form').send(form.toString()).expect(303);
  expect(answer.headers.location).toBe('/welcome');
  const { users } = auth as unknown as { users: { find(by: object): Promise<object> } };
  expect(await users.find({ email: ada.email })).toMatchObject({
    name: 'Ada',
    newsletter: true,
    bornAt: new Date('1815-12-10T00:00:00Z'),
    level: 3,
  });
});
