import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { google } from '../lib/providers.js';
import { ada, type SpecApp, startApp } from './support/app.js';
import { rows } from './support/database.js';
import { everyPlugin } from './support/every-plugin.js';

// Every route and form is sent what it must not take: fields that only the app's code sets, latchkey's own columns, and
// names of prototypes. New routes are covered without a change here.
const plugins = [
  ...everyPlugin({ sendsEmails: true, admin: { adminEmails: [ada.email] } }),
  google({ clientId: 'x', clientSecret: 'x' }),
] as const;

let app: SpecApp<typeof plugins>;
let id: string;
let cookie: string;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      baseUrl: 'http://localhost:3000',
      email: { send: () => undefined },
      user: {
        fields: {
          role: { type: 'string', input: 'none' },
          nickName: { type: 'string' },
          settings: { type: 'json' },
        },
      },
    },
  });
  ({ id } = await app.auth.users.create({ ...ada, emailVerified: true }));
  cookie = `latchkey=${(await app.auth.createSession(id)).token}`;
});
afterAll(() => app.stop());

interface Target {
  readonly method: 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  readonly takesJson: boolean;
  readonly takesForm: boolean;
  /** Administrators may set what users may not. */
  readonly isForAdmins: boolean;
}

function targets(): Target[] {
  return Object.entries(app.auth.openapi().paths).flatMap(([path, operations]) =>
    Object.entries(operations as Record<string, { requestBody?: { content: object } }>)
      // What a provider sends to its callback is no user's data.
      .filter(([method]) => method !== 'get' && !path.endsWith('/callback'))
      .map(([method, { requestBody }]) => ({
        method: method as Target['method'],
        path: `/auth${path.replace('{provider}', 'google').replace(/\{\w+\}/g, id)}`,
        takesJson: !requestBody || 'application/json' in requestBody.content,
        takesForm: 'application/x-www-form-urlencoded' in (requestBody?.content ?? {}),
        isForAdmins: path.startsWith('/admin/users'),
      })),
  );
}

/** What tells a route which shape of body it gets. */
const LEADS: Readonly<Record<string, string>> = {
  '/auth/signin/second-factor': '"method":"totp","code":"123456",',
};

const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'fields', 'user', 'nickName', 'role '];
const COLUMNS = [
  'id',
  'password_hash',
  'email_verified_at',
  'mailbox_proved_at',
  'email_proof',
  'auth_epoch',
  'suspended_at',
  'second_factor_at',
  'roles',
];

/** The only routes with these fields: they set the roles of a user, or the role of a member. */
const isNotTaken = (path: string) => (key: string) =>
  !(key === 'roles' && /\/(set-)?roles$/.test(path)) &&
  !(key === 'role' && /^\/auth\/organizations\/[^/]+\/(members|invitations)/.test(path));

async function stored() {
  const users = await rows<Record<string, unknown>>(app.database, 'SELECT * FROM users ORDER BY id');
  return users.map(({ updated_at: _, ...user }) => user);
}

test('the walker knows the routes', () => {
  expect(targets().length).toBeGreaterThan(30);
  expect(targets().filter(({ takesForm }) => takesForm).length).toBeGreaterThan(8);
});

describe('nothing is written by', () => {
  test('a JSON body with what a route does not take', async () => {
    const before = await stored();
    for (const { method, path, isForAdmins } of targets().filter(({ takesJson }) => takesJson)) {
      for (const key of [...KEYS, ...COLUMNS, ...(isForAdmins ? [] : ['role'])].filter(isNotTaken(path))) {
        // What is unknown is not looked at: other values matter only to names that objects have anyway.
        const values = KEYS.includes(key) ? ['admin', { role: 'admin' }, [{ role: 'admin' }]] : ['admin'];
        for (const value of values) {
          const body = `{${LEADS[path] ?? ''}${JSON.stringify(key)}:${JSON.stringify(value)}}`;
          const answer = await app.http[method](path)
            .set('cookie', cookie)
            .set('content-type', 'application/json')
            .send(body);
          const unknown = (answer.body.errors ?? []).filter(
            ({ code }: { code: string }) => code === 'unknown_key',
          );
          expect([method, path, key, answer.status, unknown.length]).toEqual([method, path, key, 422, 1]);
        }
      }
    }
    expect(await stored()).toEqual(before);
  }, 180_000);

  test('a form with what a route does not take', async () => {
    const before = await stored();
    const keys = [...KEYS, ...COLUMNS, 'role', 'fields[role]', 'user.role', '__proto__[role]'];
    for (const { method, path } of targets().filter(({ takesForm }) => takesForm)) {
      for (const key of keys.filter(isNotTaken(path))) {
        const answer = await app.http[method](path)
          .set('cookie', cookie)
          .set('origin', 'http://localhost:3000')
          .type('form')
          .send(new URLSearchParams([[key, 'admin']]).toString());
        expect([method, path, key, answer.status]).toEqual([method, path, key, 422]);
      }
    }
    expect(await stored()).toEqual(before);
  }, 180_000);

  test('a JSON value of a field with the key of a prototype, or a field of another type', async () => {
    const before = await stored();
    for (const body of [
      '{"settings":{"__proto__":{"role":"admin"}}}',
      '{"settings":[{"a":{"__proto__":1}}]}',
      '{"nick_name":{"role":"admin"}}',
      '{"nick_name":["a"]}',
    ]) {
      const patch = app.http.patch('/auth/me').set('cookie', cookie).set('content-type', 'application/json');
      await patch.send(body).expect(422);
    }
    expect(({} as { role?: unknown }).role).toBeUndefined();
    expect(await stored()).toEqual(before);
  });
});

test('administrators set such fields, and nobody sets columns that are not fields', async () => {
  const patch = app.http.patch(`/auth/admin/users/${id}`).set('cookie', cookie);
  const { body } = await patch.send({ role: 'editor' }).expect(200);
  expect(body.user).toMatchObject({ role: 'editor' });
});
