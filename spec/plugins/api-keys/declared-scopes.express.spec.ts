import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import { apiKeys, authRouter, createAuth, requireSession } from '../../../lib/index.js';
import { ada, password, SECRET, type SpecApp, signedIn } from '../../support/app.js';
import { type PagesApp, signInOn, startPagesApp } from '../../support/pages-app.js';
import { expectProblem } from '../../support/problem.js';

const scopes = { 'posts:read': 'Read your <posts>', 'posts:write': 'Write posts', admin: 'Everything' };
const plugins = [password(), apiKeys({ scopes })] as const;
const config = { database: 'sqlite::memory:', secret: SECRET };

let app: PagesApp<typeof plugins>;
let browser: Awaited<ReturnType<typeof signedIn>>;
let userId: string;
beforeAll(async () => {
  app = await startPagesApp(plugins, {
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/posts', requireSession(auth, { scopes: ['posts:read'] }), (_req, res) => void res.end());
    },
  });
  browser = await signedIn(app as unknown as SpecApp<typeof plugins>);
  userId = (await browser.get('/auth/me')).body.user.id;
  await app.auth.markEmailVerified(userId);
});
afterAll(() => app.stop());

const create = (given: unknown) => browser.post('/auth/api-keys').send({ name: 'a program', scopes: given });
const UNKNOWN = { code: 'unknown_scope', detail: 'must be one of posts:read, posts:write, admin' };

describe('a new key', () => {
  test('can have declared scopes, and passes the guard', async () => {
    const { body } = await create(['posts:read', 'admin']).expect(201);
    expect(body.api_key.scopes).toEqual(['posts:read', 'admin']);
    await app.http.get('/posts').set('x-service-api-key', body.key).expect(200);
  });

  test('can have none', async () => {
    expect((await create([]).expect(201)).body.api_key.scopes).toEqual([]);
  });

  test('cannot have others, by the route or by code', async () => {
    const answer = await create(['posts:read', 'posts:delete', 'constructor']);
    expectProblem(answer, 422, 'validation_failed');
    const errors = [1, 2].map((index) => ({ ...UNKNOWN, pointer: `/scopes/${index}` }));
    expect(answer.body.errors).toEqual(errors);
    await expect(
      app.auth.apiKeys.create(userId, { name: 'x', scopes: ['posts:read', 'posts:delete'] }),
    ).rejects.toMatchObject({ code: 'validation_failed', errors: errors.slice(0, 1) });
  });

  test('that is malformed gets the error of any app', async () => {
    const { body } = await create(['two words']);
    expect(body.errors).toMatchObject([{ pointer: '/scopes', code: 'invalid_scopes' }]);
  });
});

test('an older key keeps a scope that is no longer declared', async () => {
  const { body } = await create(['posts:read']).expect(201);
  await app.auth.models.ApiKey.update({ scopes: 'posts:old' } as never, { where: { id: body.api_key.id } });
  const answer = await app.http.get('/auth/me').set('x-service-api-key', body.key).expect(200);
  expect(answer.body.api_key.scopes).toEqual(['posts:old']);
  const refused = await app.http.get('/posts').set('x-service-api-key', body.key);
  expectProblem(refused, 403, 'insufficient_scope');
});

describe('the form of the page', () => {
  const send = async (given: readonly string[]) => {
    const person = app.open();
    await signInOn(person, ada);
    const { action } = (await person.open('/auth/account/api-keys')).form('create');
    const fields = new URLSearchParams({ name: 'by form' });
    for (const scope of given) fields.append('scopes', scope);
    return person.post(action, fields);
  };
  const newest = async () => (await app.auth.apiKeys.list(userId))[0];

  test('sends a field for each scope', async () => {
    expect((await send(['posts:write', 'posts:read'])).status).toBe(303);
    expect(await newest()).toMatchObject({ name: 'by form', scopes: ['posts:write', 'posts:read'] });
    expect((await send([])).status).toBe(303);
    expect(await newest()).toMatchObject({ scopes: [] });
  });

  test('gets the declared ones back if it is refused', async () => {
    const refused = await send(['posts:write', 'posts:delete']);
    expect(refused.status).toBe(422);
    expect(refused.form('create').filled({}, false).getAll('scopes')).toEqual(['posts:write']);
    expect(refused.text).toContain('Enter the names of rights');
  });
});

test('pages get the scopes with their words', () => {
  const scopesOf = (options: Parameters<typeof apiKeys>[0]) =>
    internalsOf(createAuth({ ...config, plugins: [apiKeys(options)] })).core.contributions.flatMap(
      ({ forPages }) => forPages?.scopes ?? [],
    );
  expect(scopesOf({ scopes })).toEqual(
    Object.entries(scopes).map(([name, description]) => ({ name, description })),
  );
  expect(scopesOf({ scopes: ['a', 'b'] })).toEqual([
    { name: 'a', description: null },
    { name: 'b', description: null },
  ]);
  expect(scopesOf({})).toEqual([]);
});

test('the OpenAPI document lists them', () => {
  const itemsOf = (options: Parameters<typeof apiKeys>[0]) => {
    const document = createAuth({ ...config, plugins: [password(), apiKeys(options)] }).openapi();
    const lists = JSON.stringify(document).match(/"scopes":\{[^{}]*"items":\{[^{}]*\}[^{}]*\}/g) ?? [];
    return lists.filter((list) => list.includes('maxItems')).join();
  };
  expect(itemsOf({ scopes })).toContain(`"enum":${JSON.stringify(Object.keys(scopes))}`);
  expect(itemsOf({})).toMatch(/^(?!.*enum).*"maxLength":200/);
});

describe('requireSession', () => {
  test('throws for a scope that is not declared', () => {
    const auth = createAuth({ ...config, plugins: [password(), apiKeys({ scopes })] });
    expect(() => requireSession(auth, { scopes: ['posts:read', 'post:read'] })).toThrow(
      "latchkey: requireSession's scopes contain post:read (did you mean posts:read?), which is not declared: add it to apiKeys({ scopes }), or correct it",
    );
    expect(() => requireSession(auth, { scopes: ['posts:read', 'admin'] })).not.toThrow();
  });

  test('accepts any scope if none are declared, or without API keys', () => {
    for (const used of [[password(), apiKeys()], [password()]])
      expect(() =>
        requireSession(createAuth({ ...config, plugins: used }), { scopes: ['any'] }),
      ).not.toThrow();
  });
});

describe('apiKeys({ scopes }) rejects', () => {
  const LIST = /^latchkey: apiKeys: scopes must be a list of 1 to 50 scopes, or an object of them, such as/;
  test.each<[string, unknown, RegExp]>([
    ['an empty list', [], LIST],
    ['an empty object', {}, LIST],
    ['a string', 'posts:read', LIST],
    ['null', null, LIST],
    ['more than 50', Array.from({ length: 51 }, (_, index) => `s${index}`), LIST],
    ['a scope twice', ['a', 'b', 'a'], /scopes must not contain a scope twice/],
    ['a space', ['a', 'b c'], /scopes\[1\] must have 1 to 100 visible ASCII characters/],
    ['a name that is not a string', [5], /scopes\[0\] must have 1 to 100/],
    ['a bad key', { 'b c': 'words' }, /scopes\.b c must have 1 to 100/],
    ['a description that is empty', { a: ' ' }, /scopes\.a must be 1 to 200 visible characters/],
    ['a description that is not a string', { a: true }, /scopes\.a must be 1 to 200 visible/],
  ])('%s', (_name, given, message) => {
    expect(() => apiKeys({ scopes: given as never })).toThrow(message);
  });
});
