// Loops over many rows let the process do other work. SQLite's driver is synchronous, so no statement does that by itself.
import { afterEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { uuidv7 } from '../../lib/crypto/uuid.js';
import { type AuthConfig, admin, auditLog, createAuth } from '../../lib/index.js';
import { movingIn } from '../../lib/moving-in.js';
import { MAIL_LANE } from '../../lib/outbox/lane.js';
import { LastUse } from '../../lib/sessions/last-use.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { BASE_URL } from '../support/mail-app.js';
import { settled } from '../support/sessions.js';
import { plainSequelize } from '../support/statements.js';

const plugins = [password(), admin({ adminEmails: ['root@example.com'] }), auditLog(), movingIn()] as const;
type App = SpecApp<typeof plugins>;
let app: App;
afterEach(() => app.stop());

/** The number of the current turn of the event loop. */
let turn = 0;
let ticking: NodeJS.Immediate | undefined;
const tick = () => {
  turn++;
  ticking = setImmediate(tick);
};
let log: (sql: string) => void = () => undefined;

const emails = { baseUrl: BASE_URL, email: { send: () => Promise.reject(new Error('no')) } };

const COUNT = 230;
const users = (domain = 'example.com') =>
  Array.from({ length: COUNT }, (_, ref) => ({ ref, email: `user${ref}@${domain}`, emailVerified: true }));

interface Loop {
  readonly config?: Partial<AuthConfig<typeof plugins>>;
  prepare?(): Promise<unknown>;
  run(): Promise<unknown>;
  /** Matches the statements of a batch. */
  readonly batch: RegExp;
  /** How many batches there are at least. */
  readonly count: number;
  /** The statements of one batch, which can be in one turn. @default 1 */
  readonly perTurn?: number;
}

/** Creates a user with many sessions. @returns the user's id */
async function userWith(sessions: number): Promise<string> {
  const { id } = await app.auth.users.create({ ...ada, emailVerified: true });
  for (let session = 0; session < sessions; session++) await app.auth.createSession(id);
  return id;
}

let userId = '';
const LOOPS: Readonly<Record<string, Loop>> = {
  'an import': {
    run: () => app.auth.movingIn.importUsers(users()),
    batch: /INSERT INTO users /,
    count: 5,
  },
  'the dry run of an import': {
    run: () => app.auth.movingIn.importUsers(users(), { dryRun: true }),
    batch: /INSERT INTO users /,
    count: 5,
  },
  'an import of the same rows': {
    prepare: () => app.auth.movingIn.importUsers(users()),
    run: () => app.auth.movingIn.importUsers(users(), { update: true }),
    batch: /u\.email IN \(/,
    count: 5,
  },
  'an import of changed rows': {
    prepare: () => app.auth.movingIn.importUsers(users()),
    run: () => app.auth.movingIn.importUsers(users('example.org'), { update: true }),
    batch: /UPDATE users /,
    count: COUNT,
    perTurn: 10,
  },
  'the search for vanished rows': {
    prepare: () => app.auth.movingIn.importUsers(users()),
    run: () => app.auth.movingIn.importUsers([], { update: true }),
    batch: /FROM imported_users i JOIN users/,
    count: 3,
  },
  'auth.prune()': {
    async prepare() {
      await userWith(COUNT);
      await rows(app.database, "UPDATE sessions SET expires_at = '2020-01-01 00:00:00.000'");
    },
    run: () => app.auth.prune(),
    batch: /DELETE FROM sessions/,
    count: 3,
  },
  'the tables of auth.prune()': {
    run: () => app.auth.prune(),
    batch: /SELECT .* LIMIT/,
    count: 10,
    perTurn: 2,
  },
  'the deletion of accounts': {
    config: { accountDeletion: { graceDays: 1 } },
    async prepare() {
      for (const { email } of users().slice(0, 3)) {
        const { id } = await app.auth.users.create({ email });
        await app.auth.users.delete(id);
      }
      await rows(app.database, "UPDATE users SET deleted_at = '2020-01-01 00:00:00.000'");
    },
    run: () => app.auth.prune(),
    batch: /DELETE FROM users/,
    count: 3,
  },
  'auth.rotateSecrets()': {
    config: { secret: ['another secret for specs, of 32 bytes', SECRET] },
    async prepare() {
      const former = createAuth({
        ...emails,
        database: app.database.url,
        secret: SECRET,
        plugins,
        logger: memoryLogger(),
      });
      const entries = Array.from({ length: 60 }, () => ({ lane: MAIL_LANE, kind: 'none', content: {} }));
      await internalsOf(former).core.outbox.add(entries);
      await former.close();
    },
    run: () => app.auth.rotateSecrets(),
    batch: /UPDATE outbox/,
    count: 60,
    perTurn: 20,
  },
  "the export of a user's data": {
    async prepare() {
      userId = await userWith(COUNT);
    },
    run: () => app.auth.exportUser(userId),
    batch: /FROM sessions r/,
    count: 3,
  },
  'the events of a change': {
    config: {
      webhooks: [{ url: 'http://127.0.0.1:9/', secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }],
    },
    run: () => emitMany(),
    batch: /INSERT INTO outbox/,
    count: 7,
  },
  'the rows of the audit log': { run: () => emitMany(), batch: /INSERT INTO audit_events/, count: 6 },
  'the last uses of sessions': {
    async run() {
      const { database, settings } = internalsOf(app.auth).core;
      const column = { table: 'sessions', column: 'last_active_at', what: 'it' };
      const uses = new LastUse(database, settings.log, column);
      for (let index = 0; index < 450; index++) uses.record(uuidv7(), new Date(), Date.now());
      await uses.settle();
    },
    batch: /UPDATE sessions/,
    count: 3,
  },
};

async function emitMany(): Promise<void> {
  const { database, events } = internalsOf(app.auth).core;
  const one = { userId: uuidv7(), sessionId: uuidv7() };
  await database.transaction(async (transaction) =>
    events.emitAll('session.revoked', Array(620).fill(one), transaction),
  );
  await settled(app.auth);
}

describe('each batch has a turn of the event loop of its own:', () => {
  test.each(Object.entries(LOOPS))(
    '%s',
    async (_name, { config, prepare, run, batch, count, perTurn = 1 }) => {
      app = await startApp({
        plugins,
        async config(database) {
          const sequelize = plainSequelize(database);
          const query = sequelize.query.bind(sequelize) as (
            sql: unknown,
            ...rest: unknown[]
          ) => Promise<unknown>;
          const logged = (sql: unknown, ...rest: unknown[]) => {
            log(typeof sql === 'string' ? sql : (sql as { query: string }).query);
            return query(sql, ...rest);
          };
          Object.assign(sequelize, { query: logged });
          return { ...emails, database: sequelize, ...config };
        },
      });
      await prepare?.();
      const turns: number[] = [];
      log = (sql) => {
        if (batch.test(sql)) turns.push(turn);
      };
      tick();
      try {
        await run();
      } finally {
        clearImmediate(ticking);
        log = () => undefined;
      }
      expect(turns.length).toBeGreaterThanOrEqual(count);
      const inOne = turns.map((one) => turns.filter((other) => other === one).length);
      expect(Math.max(...inOne)).toBeLessThanOrEqual(perTurn);
    },
  );
});
