import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import winston from 'winston';
import { authRouter, type Logger, requireSession } from '../lib/index.js';
import { Log } from '../lib/logger.js';
import { ada, memoryLogger, password, type SpecApp, startApp } from './support/app.js';
import { rows } from './support/database.js';
import { type FakeIntervals, fakeIntervals } from './support/intervals.js';
import { settled } from './support/sessions.js';

type App = SpecApp<readonly [ReturnType<typeof password>]>;

// A minute passes when a spec says so.
let intervals: FakeIntervals;
beforeAll(() => {
  intervals = fakeIntervals();
});
afterAll(() => intervals.release());
const minute = () => intervals.pass(60_000);

/** Collects what a logger writes, one JSON object a line. */
function collector() {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      for (const line of String(chunk).split('\n').filter(Boolean)) lines.push(JSON.parse(line));
      done();
    },
  });
  return { lines, stream };
}

const start = (logger: Logger): Promise<App> =>
  startApp({
    plugins: [password()],
    config: { logger },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/reports/:id', requireSession(auth), (_req, res) => void res.json({}));
    },
  });

const withoutSessions = async (app: App, work: () => Promise<unknown>) => {
  await rows(app.database, 'ALTER TABLE sessions RENAME TO sessions_elsewhere');
  await work();
  await rows(app.database, 'ALTER TABLE sessions_elsewhere RENAME TO sessions');
};

describe('pino', () => {
  const { lines, stream } = collector();
  let app: App;
  let guarded: () => PromiseLike<{ status: number }>;
  beforeAll(async () => {
    const logger = pino({ level: 'debug' }, stream).child({ part: 'accounts' });
    app = await start(logger);
    await app.auth.credential.signUp(ada);
    const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    guarded = () => app.http.get('/reports/42?secret=x').set('cookie', `latchkey=${token}`);
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    minute();
    minute();
    lines.length = 0;
  });

  test('gets one object a line, with the route as it is declared', async () => {
    await withoutSessions(app, async () => {
      await guarded();
      await app.http
        .post('/auth/signin/credential')
        .send({ credential: ada.email, password: ada.password })
        .expect(503);
    });
    const [first, second] = lines;
    expect(first).toEqual({
      level: 50,
      time: expect.any(Number),
      pid: expect.any(Number),
      hostname: expect.any(String),
      part: 'accounts',
      event: 'request.failed',
      route: 'GET /reports/:id',
      status: 503,
      code: 'unavailable',
      durationMs: expect.any(Number),
      err: {
        type: 'Error',
        message: expect.stringMatching(/^database: .*no such table: sessions/),
        stack: expect.stringContaining('no such table'),
      },
      msg: 'latchkey: The database schema does not match this version. See the log for the fix.',
    });
    expect(second).toMatchObject({ event: 'request.failed', route: 'POST /signin/credential' });
  });

  test('does not get the other properties of an error, or of its cause', async () => {
    const cause = Object.assign(new Error('inner'), { sql: 'SELECT secret', code: 'E_INNER' });
    const failed = Object.assign(new RangeError('outer', { cause }), { parameters: ['secret'], code: 7 });
    const off = app.auth.on('user.created', () => Promise.reject(failed));
    await app.auth.users.create({ email: 'grace@example.com', password: ada.password });
    await settled(app.auth);
    off();
    expect(lines).toMatchObject([
      {
        level: 50,
        event: 'listener.failed',
        err: { type: 'RangeError', message: 'outer: inner', code: '7' },
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('gets one line for 302 equal ones, their number each minute, and one line when it is over', async () => {
    await withoutSessions(app, async () => {
      for (let index = 0; index < 302; index++) expect((await guarded()).status).toBe(503);
    });
    expect(lines).toHaveLength(1);
    minute();
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({
      level: 50,
      event: 'request.failed',
      status: 503,
      code: 'unavailable',
      count: 301,
      msg: expect.stringMatching(/^latchkey: 301 more in the last minute: .*no such table: sessions/),
    });
    expect(lines[1]).not.toHaveProperty('route');
    minute();
    expect(lines[2]).toMatchObject({
      level: 40,
      event: 'cause.over',
      of: 'request.failed',
      count: 302,
      msg: expect.stringMatching(/^latchkey: over \(302 in all, none in the last minute\): /),
    });
    minute();
    expect(lines).toHaveLength(3);
    await withoutSessions(app, async () => void (await guarded()));
    expect(lines[3]).toMatchObject({ event: 'request.failed', route: 'GET /reports/:id' });
    minute();
    // One alone needs no second line.
    expect(lines).toHaveLength(4);
  });
});

describe('other loggers get lines of text', () => {
  const failed = Object.assign(new Error('no'), { code: 'E_NO' });

  test('winston, although it has children too', () => {
    const { lines, stream } = collector();
    const logger = winston.createLogger({ transports: [new winston.transports.Stream({ stream })] });
    new Log(logger.child({ part: 'accounts' })).warn('spec.failed', 'a spec failed', { err: failed });
    expect(lines).toMatchObject([{ level: 'warn', message: 'latchkey: a spec failed no', part: 'accounts' }]);
  });

  test('the console and a logger like it', () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => {});
    const facts = { err: failed, route: 'GET /', status: 503, code: 'unavailable', durationMs: 3 };
    new Log(console).warn('spec.failed', 'a spec failed', facts);
    expect(warn.mock.calls).toEqual([['latchkey: a spec failed', failed]]);
    warn.mockRestore();
  });
});

describe('lines of one cause', () => {
  let logger: ReturnType<typeof memoryLogger>;
  let log: Log;
  beforeEach(() => {
    logger = memoryLogger();
    log = new Log(logger);
  });
  afterEach(() => log.close());

  test('differ in ids, numbers and addresses; those of other causes are logged', () => {
    for (const port of [4000, 4001])
      log.warn('a.b', 'failed', { err: new Error(`no way to 10.0.0.1:${port}`) });
    for (const who of ['ada@example.com', '<grace@example.com>'])
      log.warn('a.b', 'failed', { err: new Error(`550 no mailbox for ${who}`) });
    log.warn('a.b', 'failed', { err: new Error('451 no mailbox for ada@example.com') });
    log.warn('a.b', 'failed', { err: new TypeError('451 no mailbox for ada@example.com') });
    log.warn('a.b', 'failed', { cause: 'another' });
    log.warn('a.c', 'failed', { cause: 'another' });
    expect(logger.lines).toHaveLength(6);
  });

  test('are in memory for at most a hundred causes, and the others are counted by their event', () => {
    const word = (index: number) =>
      String.fromCharCode(...[...String(index)].map((digit) => 97 + Number(digit)));
    for (let index = 0; index < 1000; index++)
      log.error(index % 2 ? 'a.b' : 'a.c', 'failed', {
        err: new Error(`${word(index)} ${'x'.repeat(1000)}`),
      });
    expect(logger.lines).toHaveLength(102);
    logger.lines.length = 0;
    minute();
    expect(logger.lines.map((line) => line.slice(0, 45)).sort()).toEqual(
      ['a.b', 'a.c'].map(() => 'error latchkey: 449 more in the last minute: '),
    );
    expect(Math.max(...logger.lines.map(({ length }) => length))).toBeLessThan(600);
    logger.lines.length = 0;
    minute();
    expect(logger.lines).toHaveLength(2);
  });

  test('that have not been logged yet are summed up when the log is closed, and no timer is left', () => {
    for (let index = 0; index < 3; index++) log.error('a.b', 'failed');
    log.close();
    log.error('a.b', 'failed');
    expect(logger.lines).toEqual([
      'error latchkey: failed',
      'error latchkey: 2 more in the last minute: failed',
      'error latchkey: failed',
    ]);
    expect(intervals.count).toBe(0);
  });
});
