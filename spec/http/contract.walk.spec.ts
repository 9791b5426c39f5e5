import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import cookieParser from 'cookie-parser';
import express from 'express';
import type { Response } from 'supertest';
import { internalsOf } from '../../lib/auth.js';
import { takesForms } from '../../lib/http/route.js';
import { altcha } from '../../lib/human-check.js';
import { authRouter } from '../../lib/index.js';
import { ada, type SpecApp, startApp } from '../support/app.js';
import {
  ACCESS,
  admitted,
  BODIES,
  type Caller,
  type Listed,
  listed,
  type Row,
  type Sent,
  TYPED,
} from '../support/contract-table.js';
import { rows } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';

// Every route of every plugin is sent what each row of the table has for it. A new route is covered without a change
// here, as soon as docs/routes.md lists it.
const ADMINS = ['root@example.com', 'other-root@example.com'] as const;
const plugins = [
  ...everyPlugin({ sendsEmails: true, admin: { adminEmails: [...ADMINS] } }),
  fixedProvider(),
] as const;
type App = SpecApp<typeof plugins>;
/** The id of nothing. */
const ABSENT = '01900000-0000-7000-8000-000000000000';

async function start(parsers: readonly express.RequestHandler[]) {
  const app = await startApp({
    plugins,
    config: {
      baseUrl: 'http://localhost:3000',
      bearerEnabled: true,
      email: { send: () => undefined },
      humanCheck: altcha(),
      user: { fields: { nickname: { type: 'string' }, newsletter: { type: 'boolean' } } },
    },
    mount: (mounted, auth) => {
      if (parsers.length > 0) mounted.use(...parsers);
      mounted.use('/auth', authRouter(auth));
    },
  });
  const { core, routes } = internalsOf(app.auth);
  const all = await listed(routes(), (route) => takesForms(core.settings, route));
  return { app, all };
}

/** The headers that each caller sends. */
async function credentials({ auth, database }: App): Promise<Record<Caller, Record<string, string>>> {
  const idOf = async (email: string) => (await auth.users.create({ email, emailVerified: true })).id;
  const cookieOf = async (id: string, authenticatedAt = new Date()) => {
    const { token } = await auth.createSession(id, { authenticatedAt });
    return { cookie: `latchkey=${token}` };
  };
  const [user, admin, other] = [await idOf(ada.email), await idOf(ADMINS[0]), await idOf(ADMINS[1])];
  const longAgo = new Date(Date.now() - 2 * 24 * 3_600_000);
  const { key } = await auth.apiKeys.create(admin, { name: 'program' });
  const callers = {
    nobody: {},
    'a dead cookie': { cookie: 'latchkey=junk' },
    'a program': { 'x-service-api-key': key },
    'a user': await cookieOf(user),
    'an administrator': await cookieOf(admin),
    'a user of long ago': await cookieOf(user, longAgo),
    'an administrator of long ago': await cookieOf(admin, longAgo),
    'an administrator with one of two factors': await cookieOf(other),
  };
  await rows(database, 'UPDATE users SET second_factor_at = created_at WHERE id = :other', { other });
  return callers;
}

/** Body parsers of the app in front of the router must make no difference. */
const APPS: readonly [name: string, parsers: express.RequestHandler[], table: readonly Row[]][] = [
  ['an app without parsers', [], [...ACCESS, ...BODIES]],
  [
    'an app with parsers of its own',
    [express.json(), express.urlencoded({ extended: true }), cookieParser('a secret')],
    BODIES.filter(({ parsed }) => parsed !== false),
  ],
];

describe.each(APPS)('in %s', (_name, parsers, table) => {
  let app: App;
  let all: Listed[];
  let headers: Record<Caller, Record<string, string>>;
  let before: Awaited<ReturnType<typeof stored>>;
  beforeAll(async () => {
    ({ app, all } = await start(parsers));
  });
  // Anew, since a row that fails may have ended a session or an account.
  beforeEach(async () => {
    await rows(app.database, 'DELETE FROM users');
    headers = await credentials(app);
    await settled(app.auth);
    before = await stored();
  });
  afterAll(() => app.stop());

  /** What a refused request must not change. */
  const stored = async () => ({
    users: await rows(app.database, 'SELECT * FROM users ORDER BY id'),
    sessions: await rows(app.database, 'SELECT id, token_hash FROM sessions ORDER BY id'),
    keys: await rows(app.database, 'SELECT id FROM api_keys ORDER BY id'),
    outbox: await rows(app.database, 'SELECT id FROM outbox'),
  });
  afterEach(async () => {
    const after = await stored();
    // What was sent meanwhile is gone.
    expect(after).toEqual({ ...before, outbox: after.outbox });
    expect(before.outbox).toEqual(expect.arrayContaining(after.outbox));
    expect(app.log).toEqual([]);
  });

  async function send(one: Listed, { method, as, query, type, body, headers: more }: Sent) {
    const { route } = one;
    const path = route.path.replace(':provider', 'nobody').replace(/:\w+/g, ABSENT);
    const request = app.http[(method ?? route.method) as 'post'](`/auth${path}${query ? `?${query}` : ''}`);
    request.set({ ...headers[as ?? admitted(one)], ...more });
    if (body === undefined) return request;
    if (type !== null) request.set('content-type', type ?? 'application/json');
    // As it is: supertest guesses a type for strings, and turns bytes into JSON.
    return request.serialize((bytes) => bytes).send(Buffer.from(body));
  }

  test.each(table)('a request is refused $name', async (row) => {
    const { applies, sent, status, code, exempt = {} } = row;
    const concerned = all.filter(applies);
    expect(Object.keys(exempt).filter((name) => !concerned.some((one) => one.name === name))).toEqual([]);
    const checked = concerned.filter(({ name }) => exempt[name] === undefined);
    const wrong: unknown[] = [];
    let requests = 0;
    for (const one of checked) {
      for (const request of sent(one)) {
        requests++;
        const faults = faultsOf(await send(one, request), { one, request, status, code });
        if (faults.length > 0) wrong.push([one.name, shortened(request), ...faults]);
      }
    }
    expect(wrong.slice(0, 20)).toEqual([]);
    expect(requests).toBeGreaterThanOrEqual(Math.max(checked.length, 1));
  });
});

const shortened = (request: Sent) => JSON.stringify(request).slice(0, 200);

interface Expected {
  readonly one: Listed;
  readonly request: Sent;
  readonly status: number;
  readonly code: string;
}

/** What is wrong with the answer to a request that is refused. */
function faultsOf(answer: Response, { one, request, status, code }: Expected): unknown[] {
  const { body, headers } = answer;
  const faults: unknown[] = [];
  const demand = (isRight: boolean, ...what: unknown[]) => void (isRight || faults.push(what));
  demand(answer.status === status && body?.code === code, answer.status, body?.code ?? answer.text);
  try {
    expectProblem(answer, answer.status, body?.code);
  } catch (error) {
    faults.push(error);
  }
  for (const [name, value] of Object.entries(PROTECTED))
    demand(headers[name] === value, `${name}: ${headers[name]}`);
  for (const name of ['set-cookie', 'set-auth-token', 'etag', 'access-control-allow-origin'])
    demand(headers[name] === undefined, `${name}: ${headers[name]}`);
  demand(!answer.text.includes(TYPED), 'repeats what was typed');
  if (status === 405) {
    const allowed = one.methods.flatMap((method) =>
      method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase(),
    );
    demand(headers.allow === allowed.join(', '), `allow: ${headers.allow}`);
  }
  if (request.pointer !== undefined) {
    const pointers = (body?.errors ?? []).map(({ pointer }: { pointer: string }) => pointer);
    demand(
      pointers.some((pointer: string) => `${pointer}/`.startsWith(`${request.pointer}/`)),
      `errors of ${pointers.join()}`,
    );
  }
  return faults;
}

const PROTECTED = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
