import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Response } from 'supertest';
import { z } from 'zod';
import { admin, createAuth, type OpenApiDocument, type Plugin, twoFactor } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, signedIn, startApp } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: Record<string, unknown>[];
  parameters?: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { required: boolean; content: Record<string, { schema: { $ref: string } }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: { $ref: string } }> }>;
}

interface ProblemSchema {
  properties: Record<string, object>;
  required: string[];
}

const root = { email: 'root@example.com', password: 'a root of all admins' };
const plugins = [password({ username: true }), admin({ adminEmails: [root.email] })] as const;
let app: SpecApp<typeof plugins>;
let document: OpenApiDocument;
let ofEveryPlugin: OpenApiDocument;
beforeAll(async () => {
  app = await startApp({ plugins, config: { bearerEnabled: true } });
  document = (await app.http.get('/auth/openapi.json').expect(200)).body;
  const auth = createAuth({
    database: 'sqlite:./unused.db',
    secret: SECRET,
    baseUrl: 'http://localhost:3000',
    bearerEnabled: true,
    email: { send: () => undefined },
    plugins: [...everyPlugin({ sendsEmails: true }), fixedProvider()],
  });
  ofEveryPlugin = JSON.parse(JSON.stringify(auth.openapi()));
  await auth.close();
});
afterAll(() => app.stop());

test('the document has the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(document.info.version).toBe(version);
});

const operationsIn = ({ paths }: OpenApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      method,
      path,
      operation,
    })),
  );

/** The public routes that are sent what signs somebody in, or proves whose account it is. */
const WITH_CREDENTIALS = [
  '/email-changes/confirm',
  '/passwords/reset',
  '/signin/credential',
  '/signin/email/confirm',
  '/signin/passkey',
  '/signin/second-factor',
  '/signin/second-factor/options',
  '/signin/second-factor/send',
  '/undo-change',
  '/verify-email',
];

/** All `$ref` values below a value. */
function refs(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : refs(inner)));
}

describe('the OpenAPI document', () => {
  test('has version 3.1 and is the same over HTTP and from code', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: expect.any(String), version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
      servers: [{ url: '/auth' }],
    });
    expect(document).toEqual(JSON.parse(JSON.stringify(app.auth.openapi())));
  });

  test('is kept by clients, who ask whether it is still the same', async () => {
    const first = await app.http.get('/auth/openapi.json').expect(200).expect('cache-control', 'no-cache');
    const etag = String(first.headers.etag);
    const ask = (known: string) => app.http.get('/auth/openapi.json').set('if-none-match', known);
    const same = await ask(`"other", ${etag}`).expect(304).expect('etag', etag);
    expect([same.text, same.headers['cache-control']]).toEqual(['', 'no-cache']);
    expect((await ask('"other"').expect(200)).body).toEqual(document);
    await app.http.get('/auth/me').expect('cache-control', 'no-store');
  });

  test('lists exactly the routes that are on', async () => {
    expect(
      operationsIn(document)
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual([
      'delete /admin/users/{id}',
      'delete /admin/users/{id}/sessions/{sessionId}',
      'delete /devices/{id}',
      'delete /me',
      'delete /passwords',
      'delete /sessions/{id}',
      'get /account-changes',
      'get /admin/users',
      'get /admin/users/{id}',
      'get /admin/users/{id}/sessions',
      'get /devices',
      'get /me',
      'get /openapi.json',
      'get /sessions',
      'get /sign-in-methods',
      'patch /admin/users/{id}',
      'patch /me',
      'post /admin/users',
      'post /admin/users/{id}/require-new-password',
      'post /admin/users/{id}/revoke-sessions',
      'post /devices/{id}/forget',
      'post /me/delete',
      'post /me/export',
      'post /me/update',
      'post /passwords/change',
      'post /passwords/delete',
      'post /passwords/set',
      'post /reauthenticate',
      'post /revoke-sessions',
      'post /signin/credential',
      'post /signout',
      'post /signup/credential',
      'post /usernames/check',
      'put /passwords',
    ]);
    const bare = await startApp({ plugins: [] });
    const { body } = await bare.http.get('/auth/openapi.json').expect(200);
    expect(Object.keys(body.paths).sort()).toEqual([
      '/account-changes',
      '/devices',
      '/devices/{id}',
      '/devices/{id}/forget',
      '/me',
      '/me/delete',
      '/me/export',
      '/openapi.json',
      '/revoke-sessions',
      '/sessions',
      '/sessions/{id}',
      '/sign-in-methods',
      '/signout',
    ]);
    expect(Object.keys(body.components.securitySchemes)).toEqual(['cookie']);
    await bare.stop();
  });

  test('does not mention hashes, tokens or epochs in responses', () => {
    const answers = operationsIn(document).flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap(refs),
    );
    const schemas = [...new Set(answers)].map(
      (ref) => document.components.schemas[ref.split('/').pop() ?? ''],
    );
    expect(JSON.stringify(schemas)).not.toMatch(/hash|epoch|"token|metadata/i);
  });
});

describe.each([
  ['some plugins', () => document],
  ['every plugin', () => ofEveryPlugin],
])('the OpenAPI document of %s', (_name, of) => {
  test('contains only references that resolve, and only valid schemas as components', () => {
    const found = refs(of());
    expect(found.length).toBeGreaterThan(10);
    for (const ref of found) {
      const [, name = ''] = /^#\/components\/schemas\/(\w+)$/.exec(ref) ?? [];
      expect(Object.keys(of().components.schemas)).toContain(name);
    }
    for (const name of Object.keys(of().components.schemas))
      expect(() => schemaOf(`#/components/schemas/${name}`, of())).not.toThrow();
  });

  test('has a schema for each status of an error, with the codes as an enum, which routes share', () => {
    const problems = operationsIn(of()).flatMap(({ operation: { responses } }) =>
      Object.entries(responses).filter(([status]) => /^[45]/.test(status)),
    );
    const schemas = new Map<string, string>();
    for (const [status, { description, content }] of problems) {
      const [name = ''] = refs(content).map((ref) => ref.split('/').pop());
      const schema = of().components.schemas[name] as ProblemSchema;
      const codes = description.split(', ');
      expect([description, schema.properties.code]).toEqual([description, { type: 'string', enum: codes }]);
      const optional = { missing: codes.includes('proof_required'), task: codes.includes('task_required') };
      const fields = ['code', 'detail', 'status', 'title', 'type', ...(status === '422' ? ['errors'] : [])];
      const more = Object.entries(optional).flatMap(([field, isThere]) => (isThere ? [field] : []));
      expect([description, schema.required.sort()]).toEqual([description, fields.sort()]);
      expect(Object.keys(schema.properties).sort()).toEqual([...fields, ...more].sort());
      schemas.set(description, name);
    }
    expect(schemas.size).toBeLessThan(problems.length / 5);
    expect(new Set(schemas.values()).size).toBe(schemas.size);
  });

  test('has a 401 of a public route only where credentials are sent', () => {
    const rejecting = operationsIn(of()).filter(
      ({ operation }) => operation.security.length === 0 && operation.responses['401'],
    );
    const all = operationsIn(of()).map(({ path }) => path);
    expect([...new Set(rejecting.map(({ path }) => path))].sort()).toEqual(
      WITH_CREDENTIALS.filter((path) => all.includes(path)),
    );
  });

  test('describes every operation completely', () => {
    const ids = operationsIn(of()).map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { method, path, operation } of operationsIn(of())) {
      const inPath = [...path.matchAll(/{(\w+)}/g)].map(([, name]) => name);
      const declared = operation.parameters ?? [];
      expect(declared.filter((it) => it.in === 'path').map(({ name, required }) => [name, required])).toEqual(
        inPath.map((name) => [name, true]),
      );
      expect(operation.summary).not.toBe('');
      expect(operation.description).toMatch(/^Requires .+\.$/);
      expect(of().tags.map(({ name }) => [name])).toContainEqual(operation.tags);
      expect(operation.requestBody === undefined || method !== 'get').toBe(true);
      expect(Object.keys(operation.responses).some((status) => /^[23]/.test(status))).toBe(true);
      expect(operation.responses['503']).toBeDefined();
      for (const { description } of Object.values(operation.responses)) expect(description).not.toBe('');
      for (const scheme of operation.security.flatMap(Object.keys))
        expect(Object.keys(of().components.securitySchemes)).toContain(scheme);
      const isPublic = operation.security.length === 0;
      if (!isPublic) expect(operation.responses['401']).toBeDefined();
    }
  });
});

describe('the responses of the routes', () => {
  test('match the document', async () => {
    const good = { ...ada, username: 'ada' };
    const credentials = { credential: ada.email, password: ada.password };
    const browser = await signedIn(app, { email: 'somebody@example.com', password: ada.password });
    const administrator = await signedIn(app, root);
    const { id } = (await administrator.get('/auth/me')).body.user;
    const other = (await app.auth.credential.signIn({ credential: root.email, password: root.password }))
      .session.id;
    await app.auth.markEmailVerified(id);
    const foreign = { origin: 'https://evil.example' };
    const check = (template: string, answer: Response) => expectDeclared(template, answer);
    const { http } = app;

    check('/openapi.json', await http.get('/auth/openapi.json'));
    check('/signup/credential', await http.post('/auth/signup/credential').send(good));
    check('/signup/credential', await http.post('/auth/signup/credential').send(good));
    check('/signup/credential', await http.post('/auth/signup/credential').send({ email: 5 }));
    for (const path of ['/signup/credential', '/signin/credential', '/usernames/check']) {
      check(path, await http.post(`/auth${path}`).set(foreign).send(good));
      check(path, await http.post(`/auth${path}`).type('json').send('{'));
      check(path, await http.post(`/auth${path}`).type('json').send(' '.repeat(20_000)));
      check(path, await http.post(`/auth${path}`).type('text').send('x'));
      check(path, await http.post(`/auth${path}`).send({}));
    }
    check(
      '/signin/credential',
      await http.post('/auth/signin/credential').send({ ...credentials, password: 'wrong' }),
    );
    check('/signin/credential', await http.post('/auth/signin/credential').send(credentials));
    check('/usernames/check', await http.post('/auth/usernames/check').send({ username: 'ada' }));
    for (const path of ['/me', '/sessions']) {
      check(path, await http.get(`/auth${path}`));
      check(path, await browser.get(`/auth${path}`));
    }
    for (const client of [http, browser, administrator]) {
      check('/admin/users', await client.get('/auth/admin/users?limit=1'));
      check('/admin/users', await client.get('/auth/admin/users?limit=0'));
      for (const user of [id, 'x']) {
        check('/admin/users/{id}', await client.get(`/auth/admin/users/${user}`));
        check(
          '/admin/users/{id}/revoke-sessions',
          await client.post(`/auth/admin/users/${user === id ? 'y' : user}/revoke-sessions`),
        );
      }
    }
    for (const session of ['x', other])
      check('/sessions/{id}', await administrator.delete(`/auth/sessions/${session}`));
    check('/sessions/{id}', await administrator.delete('/auth/sessions/x').set(foreign));
    check(
      '/admin/users/{id}/revoke-sessions',
      await administrator.post(`/auth/admin/users/${id}/revoke-sessions`),
    );
    for (const path of ['/signout', '/revoke-sessions']) {
      const client = await signedIn(app, { email: `${path.slice(1)}@example.com`, password: ada.password });
      check(path, await client.post(`/auth${path}`).set(foreign));
      check(path, await client.post(`/auth${path}`));
      check(path, await client.post(`/auth${path}`));
    }
    const theirs = { credential: 'signout@example.com', password: ada.password };
    const two = [await app.auth.credential.signIn(theirs), await app.auth.credential.signIn(theirs)];
    const cookie = two.map(({ token }) => `latchkey=${token}`).join('; ');
    check('/signout', await http.post('/auth/signout').set({ cookie }));
    expect(seen.size).toBeGreaterThan(45);
  });

  const seen = new Set<string>();
  function expectDeclared(template: string, answer: Response) {
    const method = answer.request.method.toLowerCase();
    const operation = (document.paths[template] as Record<string, Operation>)[method];
    const what = `${method} ${template} ${answer.status} ${answer.body?.code ?? ''}`;
    seen.add(what);
    const declared = operation?.responses[answer.status];
    expect([what, declared]).toEqual([what, expect.anything()]);
    const [type] = (answer.headers['content-type'] ?? '').split(';');
    expect([what, Object.keys(declared?.content ?? {})]).toEqual([what, type ? [type] : []]);
    if (type === 'application/problem+json')
      expect([what, declared?.description]).toEqual([what, expect.stringContaining(answer.body.code)]);
    const ref = type && declared?.content?.[type]?.schema.$ref;
    if (ref)
      expect([what, schemaOf(ref, document).safeParse(answer.body).error?.issues]).toEqual([what, undefined]);
    else expect(answer.text).toBe('');
  }
});

function schemaOf(ref: string, { components }: OpenApiDocument): z.ZodType {
  const json = JSON.stringify({ $ref: ref, $defs: components.schemas });
  return z.fromJSONSchema(JSON.parse(json.replaceAll('#/components/schemas/', '#/$defs/')));
}

describe('second factors in the OpenAPI document', () => {
  const documentOf = async (plugins: readonly Plugin[]) => {
    const other = await startApp({ plugins });
    const described = other.auth.openapi();
    await other.stop();
    return described;
  };

  test('are one of the two answers of a sign-in, where they are on', async () => {
    const { components } = await documentOf([password(), twoFactor()]);
    expect(components.schemas.PostSigninCredentialResponse).toMatchObject({
      anyOf: [
        { required: ['user', 'session'] },
        {
          properties: { second_factor: { required: ['methods', 'expires_at'] } },
          required: ['second_factor'],
        },
      ],
    });
  });

  test('are named nowhere without twoFactor()', async () => {
    const described = JSON.stringify(await documentOf([password()]));
    expect(described).not.toMatch(/second.?factor|pending_token|totp|recovery_code/i);
  });
});
