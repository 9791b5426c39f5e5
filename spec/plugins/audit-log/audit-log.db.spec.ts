import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, auditLog, createAuth } from '../../../lib/index.js';
import { ada, password, SECRET, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';

const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };
const plugins = [password(), admin({ adminEmails: [ada.email] }), auditLog({ retention: 3600 })] as const;
const EVENTS = '/auth/admin/events';

interface Event {
  id: string;
  kind: string;
  user_id: string | null;
}

let app: SpecApp<typeof plugins>;
let browser: Awaited<ReturnType<typeof signedIn>>;
let adaId: string;
let eveId: string;
beforeAll(async () => {
  app = await startApp({ plugins });
  browser = await signedIn(app);
  adaId = (await browser.get('/auth/me')).body.user.id;
  await app.auth.markEmailVerified(adaId);
  const eves = await signedIn(app, eve);
  eveId = (await eves.get('/auth/me')).body.user.id;
  for (let index = 0; index < 12; index++)
    await app.http
      .post('/auth/signin/credential')
      .set('user-agent', `robot ${index}`)
      .send({ credential: eve.email, password: 'a wrong password' });
  await app.http
    .post('/auth/signin/credential')
    .send({ credential: 'nobody@example.com', password: 'a wrong password' });
  // Events are written after the responses.
  await settled(app.auth);
});
afterAll(() => app.stop());

const list = async (query: object = {}) => {
  const { body } = await browser.get(EVENTS).query(query).expect(200);
  return body as { events: Event[]; next_cursor: string | null };
};

describe('GET /admin/events', () => {
  test('lists events, newest first', async () => {
    const { events, next_cursor } = await list();
    expect(next_cursor).toBeNull();
    // Two sign-ups, two sign-ins, a verification, 13 failures.
    expect(events).toHaveLength(18);
    const ids = events.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(events.find(({ kind, user_id }) => kind === 'sign_in.failed' && user_id === null)).toEqual({
      id: expect.any(String),
      kind: 'sign_in.failed',
      user_id: null,
      ip_address: '127.0.0.1',
      user_agent: null,
      details: {},
      created_at: time,
    });
    const begun = events.find(({ kind, user_id }) => kind === 'session.created' && user_id === adaId);
    expect(begun).toMatchObject({ details: expect.any(Object), created_at: time });
    expect(JSON.stringify(begun)).toContain((await app.auth.listSessions(adaId))[0]?.id);
  });

  test('filters events by user and by kind', async () => {
    const ofEve = await list({ user_id: eveId });
    expect(ofEve.events).toHaveLength(14);
    expect(new Set(ofEve.events.map(({ user_id }) => user_id))).toEqual(new Set([eveId]));
    const failures = await list({ kind: 'sign_in.failed' });
    expect(failures.events).toHaveLength(13);
    expect((await list({ kind: 'sign_in.failed', user_id: adaId })).events).toEqual([]);
    expect((await list({ kind: 'session.created', user_id: eveId })).events).toHaveLength(1);
  });

  test.each([
    { user_id: 'junk' },
    { kind: "' OR 1=1 --" },
    { kind: 'sign_in.%' },
    { kind: 'SIGN_IN.FAILED' },
  ])('returns no events for %j', async (query) => {
    expect(await list(query)).toEqual({ events: [], next_cursor: null });
  });

  test('pages through all events once', async () => {
    for (const filter of [{}, { kind: 'sign_in.failed' }, { user_id: eveId }]) {
      const all = (await list(filter)).events;
      const paged: Event[] = [];
      let cursor: string | null = null;
      do {
        const page = await list({ ...filter, limit: '5', ...(cursor && { cursor }) });
        expect(page.events.length).toBeLessThanOrEqual(5);
        paged.push(...page.events);
        cursor = page.next_cursor;
      } while (cursor);
      expect(paged).toEqual(all);
    }
  });

  test.each(['limit=0', 'limit=201', 'limit=x', 'cursor=junk', 'cursor=', 'user_id=', 'kind=a&kind=b'])(
    'rejects ?%s with 400',
    async (query) => {
      expectProblem(await browser.get(`${EVENTS}?${query}`), 400, 'invalid_request');
    },
  );
});

describe('the table of events', () => {
  test('keeps the events of a deleted user', async () => {
    const person = { email: 'gone@example.com', password: ada.password };
    const made = await app.auth.credential.signUp(person);
    const userId = made?.user.id as string;
    await settled(app.auth);
    await app.auth.models.User.destroy({ where: { id: userId } });
    expect((await app.auth.auditLog.listEvents({ userId })).events).toMatchObject([{ kind: 'user.created' }]);
  });

  test('accepts any user agent and truncates it to the length of its column', async () => {
    await app.http
      .post('/auth/signin/credential')
      .set('user-agent', `<script>${'x'.repeat(2000)}`)
      .send({ credential: 'long@example.com', password: 'a wrong password' });
    await app.auth.credential
      .signIn({
        credential: 'nul@example.com',
        password: 'wrong',
        userAgent: '\0😀'.repeat(200),
        ip: 'x'.repeat(99),
      })
      .catch(() => undefined);
    const kind = 'sign_in.failed';
    await settled(app.auth);
    const { events } = await app.auth.auditLog.listEvents({ kind, limit: 2 });
    expect(events.some(({ ipAddress }) => ipAddress?.startsWith('xx'))).toBe(true);
    for (const { userAgent, ipAddress } of events) {
      expect(userAgent?.length).toBeLessThanOrEqual(255);
      expect(ipAddress?.length).toBeLessThanOrEqual(45);
    }
  });

  test('is pruned of events that are older than the retention time', async () => {
    const before = (await list({ limit: '200' })).events;
    const [old, older, ...young] = [...before].reverse().map(({ id }) => id);
    const age = (id: string | undefined, minutes: number) =>
      rows(app.database, 'UPDATE audit_events SET created_at = :time WHERE id = :id', {
        id,
        time: new Date(Date.now() - minutes * 60_000).toISOString().replace('T', ' ').replace('Z', ''),
      });
    await age(old, 61);
    await age(older, 600);
    await age(young[0], 58);
    expect(await app.auth.prune()).toBe(2);
    expect((await list({ limit: '200' })).events.map(({ id }) => id).sort()).toEqual(young.sort());
  });

  test('is written completely before the app closes', async () => {
    const closing = createAuth({ database: app.database.url, secret: SECRET, rateLimit: false, plugins });
    await closing.credential.signUp({ email: 'last@example.com', password: ada.password });
    await closing.close();
    const [last] = (await app.auth.auditLog.listEvents({ kind: 'user.created', limit: 1 })).events;
    const { users } = await app.auth.admin.listUsers({ search: 'last@example.com' });
    expect(last?.userId).toBe(users[0]?.id);
  });
});

test('a failed write to the audit log does not affect the response and is logged', async () => {
  await rows(app.database, 'ALTER TABLE audit_events RENAME TO audit_events_gone');
  app.log.length = 0;
  await app.auth.credential.signUp({ email: 'unlogged@example.com', password: ada.password });
  await settled(app.auth);
  expect(app.log.join()).toMatch(/error latchkey: audit events could not be saved: 1/);
  await rows(app.database, 'ALTER TABLE audit_events_gone RENAME TO audit_events');
});

test.each([
  [() => auditLog({ retention: 0 }), /auditLog: retention must be more than 0 seconds/],
  [() => auditLog({ retention: 'a year' } as never), /auditLog: retention must be a number of seconds/],
  [() => auditLog({ days: 5 } as never), /auditLog: .*days/],
  [
    () => createAuth({ database: 'sqlite:x.db', secret: SECRET, plugins: [password(), auditLog()] }),
    /auditLog: add admin\(\{ … \}\) to plugins/,
  ],
])('an invalid option throws a TypeError: %s', (make, message) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(message);
});
