import { afterEach, expect, test } from '@jest/globals';
import { apiKeys, authRouter, requireSession } from '../../lib/index.js';
import { password, type SpecApp, startApp } from '../support/app.js';
import { CookieJar } from '../support/cookie-jar.js';

// Guards read users by another statement than the rest of latchkey. On SQLite, most of its values come as JSON.
const MANY = Array.from({ length: 150 }, (_, index) => `count${index}`);
const fields = {
  ...Object.fromEntries(MANY.map((name) => [name, { type: 'integer', input: 'none' }] as const)),
  motto: { type: 'string' },
  score: { type: 'number' },
  level: { type: 'integer' },
  newsletter: { type: 'boolean' },
  bornAt: { type: 'date' },
  settings: { type: 'json' },
} as const;
const plugins = [password(), apiKeys()] as const;

let app: SpecApp<typeof plugins> | undefined;
afterEach(async () => {
  await app?.stop();
  app = undefined;
});

const start = () =>
  startApp({
    plugins,
    config: { user: { fields } },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/page', requireSession(auth), (req, res) => {
        const { bornAt, ...user } = req.auth.user as unknown as Record<string, unknown>;
        res.json({ ...user, bornAt: bornAt instanceof Date ? bornAt.getTime() : bornAt });
      });
    },
  });

const VALUES = {
  motto: `"\\'{}[]\t\n\u2028é ⚙ \u{1F600} null`,
  score: 0.1 + 0.2,
  level: -(2 ** 31),
  newsletter: false,
  bornAt: new Date(-62_135_596_800_000 + 1),
  settings: { '"': [1e300, null, '\\'] },
};

test.each([
  ['values of every type', VALUES, { ...VALUES, bornAt: VALUES.bornAt.getTime() }],
  ['the smallest number', { score: Number.MIN_VALUE }, { score: Number.MIN_VALUE, motto: null, level: null }],
  ['text that looks like a number', { motto: '12' }, { motto: '12', newsletter: null, settings: null }],
])('a guard reads what was written, alone and among others: %s', async (_case, written, read) => {
  app = await start();
  const many = Object.fromEntries(MANY.map((name, index) => [name, index % 2 ? index : null]));
  const { id } = await app.auth.users.create({
    email: 'ada@example.com',
    emailVerified: true,
    password: 'an analytical engine',
    fields: { ...many, ...written },
  } as never);
  const jar = new CookieJar();
  const credentials = { credential: 'ada@example.com', password: 'an analytical engine' };
  await jar.visit(`${app.origin}/auth/signin/credential`, { method: 'POST', body: credentials });
  const { key } = await app.auth.apiKeys.create(id, { name: 'build' });
  const page = async ([name, value]: [string, string]) => {
    const response = await fetch(`${app?.origin}/page`, { headers: { [name]: value } });
    expect(response.status).toBe(200);
    return response.json();
  };
  for (const credential of [
    ['cookie', jar.header],
    ['authorization', `ApiKey ${key}`],
  ] as [string, string][]) {
    const expected = { id, email: 'ada@example.com', ...many, ...read };
    for (let alone = 0; alone < 3; alone++) expect(await page(credential)).toMatchObject(expected);
    for (const one of await Promise.all(Array.from({ length: 8 }, () => page(credential))))
      expect(one).toMatchObject(expected);
  }
});
