import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hash } from 'bcrypt';
import { twoFactor as betterAuthTwoFactor } from 'better-auth/plugins';
import session from 'express-session';
import { createClient } from 'redis';
import { type ImportRow, twoFactor } from '../../../lib/index.js';
import {
  authJsSessions,
  betterAuthSessions,
  expressSession,
  fromAuthJs,
  fromBetterAuth,
  movingIn,
  type SessionBridge,
} from '../../../lib/moving-in.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { startAuthJs } from '../../support/auth-js.js';
import { BETTER_AUTH_SECRET, startBetterAuth } from '../../support/better-auth.js';
import { CookieJar } from '../../support/cookie-jar.js';
import { dialect, rows, type SpecDatabase } from '../../support/database.js';
import { OLD_SECRET, sessionStore, startOldApp } from '../../support/old-app.js';
import { codeOf } from '../../support/two-factor.js';

// An app moves in a tenth of its traffic after the other, and back: nobody is signed out, and no factor is enrolled again.
const SHARES = [10, 50, 100, 50, 10, 0];
const REQUESTS = 10;
const PEOPLE = 5;
const PASSWORD = 'an analytical engine';
const plugins = [password(), twoFactor()] as const;
type Plugins = readonly [...typeof plugins, ReturnType<typeof movingIn>];
type Moved = SpecApp<Plugins>;
type KeepOld = Exclude<Parameters<typeof expressSession>[0]['keepOld'], boolean | undefined>;

interface Person {
  readonly email: string;
  readonly jar: CookieJar;
  /** The secret of the authenticator app, if they have one. */
  secret?: string;
}

/** The app before the move, and its bridge. */
interface OldSystem {
  bridge(database: SpecDatabase, keepOld: KeepOld): Promise<SessionBridge>;
  start(database: SpecDatabase): Promise<OldApp>;
}

interface OldApp {
  signIn(person: Person): Promise<void>;
  /** Returns the email or id of the user who is signed in. */
  user(jar: CookieJar): Promise<string | undefined>;
  signOut(jar: CookieJar): Promise<void>;
  /** Switches a second factor on, and returns its secret. */
  enroll?(person: Person): Promise<string>;
  people(): AsyncIterable<ImportRow> | Iterable<ImportRow>;
  endAll(email: string): Promise<unknown>;
  stop(): Promise<void>;
}

const quoted = (name: string) => (dialect === 'mysql' ? `\`${name}\`` : `"${name}"`);

const betterAuth: OldSystem = {
  bridge: async ({ sequelize }, keepOld) =>
    betterAuthSessions({ sequelize, secret: BETTER_AUTH_SECRET, keepOld }),
  async start(database) {
    const { origin, stop } = await startBetterAuth(database, {
      // As an app has it, unlike in other specs.
      emailAndPassword: { enabled: true },
      plugins: [betterAuthTwoFactor()],
    });
    const post = (jar: CookieJar, path: string, body: object = {}) =>
      jar.visit(`${origin}/api/auth${path}`, { method: 'POST', body, headers: { origin } });
    const user = async (jar: CookieJar) =>
      (await jar.visit(`${origin}/api/auth/get-session`)).body?.user?.email;
    return {
      user,
      stop,
      signIn: async ({ jar, email }) =>
        void (await post(jar, '/sign-up/email', { email, password: PASSWORD, name: 'Ada' })),
      signOut: async (jar) => void (await post(jar, '/sign-out')),
      async enroll({ jar }) {
        const { body } = await post(jar, '/two-factor/enable', { password: PASSWORD });
        const secret = new URL(String((body as { totpURI?: string }).totpURI)).searchParams.get('secret');
        const { status } = await post(jar, '/two-factor/verify-totp', { code: codeOf(secret ?? '') });
        expect(status).toBe(200);
        return secret ?? '';
      },
      people: () => fromBetterAuth(database.sequelize, { secret: BETTER_AUTH_SECRET }),
      endAll: (email) =>
        rows(
          database,
          `DELETE FROM ${quoted('session')} WHERE ${quoted('userId')} IN (SELECT id FROM ${quoted('user')} WHERE email = :email)`,
          { email },
        ),
    };
  },
};

const authJs: OldSystem = {
  bridge: async ({ sequelize }, keepOld) => authJsSessions({ sequelize, keepOld }),
  async start(database) {
    const old = await startAuthJs(database);
    return {
      signIn: async ({ jar, email }) => void (await old.signIn(jar, email)),
      user: async (jar) => (await old.session(jar)).body?.user?.email,
      signOut: (jar) => old.signOut(jar),
      people: () => fromAuthJs(database.sequelize),
      endAll: (email) =>
        rows(database, 'DELETE FROM sessions WHERE user_id IN (SELECT id FROM users WHERE email = :email)', {
          email,
        }),
      stop: () => old.stop(),
    };
  },
};

/** The methods of a store, and how it ends the sessions of a user. */
interface OldStore {
  readonly store: Pick<session.Store, 'get' | 'destroy'>;
  endAll(id: string): Promise<unknown>;
  close(): Promise<unknown>;
}

/** An app with express-session and passport, whose users have their email as id. */
function expressWith(open: (database: SpecDatabase) => Promise<OldStore>): OldSystem {
  let stored: OldStore;
  return {
    async bridge(database, keepOld) {
      stored = await open(database);
      return expressSession({
        store: stored.store,
        secret: OLD_SECRET,
        userId: (data) => data.passport && { email: data.passport.user, emailVerified: true },
        keepOld,
      });
    },
    async start() {
      const { store, endAll, close } = stored;
      const known: Person[] = [];
      const { origin, stop } = await startOldApp(Object.assign(store, { sync: async () => {} }) as never);
      const passwordHash = await hash(PASSWORD, 4);
      return {
        async signIn(person) {
          known.push(person);
          await person.jar.visit(`${origin}/login/${person.email}`, { method: 'POST' });
        },
        user: async (jar) => (await jar.visit(`${origin}/me`)).body.user?.id,
        signOut: async (jar) => void (await jar.visit(`${origin}/logout`, { method: 'POST' })),
        // Of the app's own.
        enroll: async (person) => {
          person.secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
          return person.secret;
        },
        people: () =>
          known.map(({ email, secret = null }) => ({
            ...{ ref: email, email, emailVerified: true, passwordHash },
            ...(secret && { totpSecret: secret }),
          })),
        endAll,
        async stop() {
          await stop();
          await close();
        },
      };
    },
  };
}

const withSql = expressWith(async (database) => {
  const store = sessionStore(database);
  await store.sync();
  return {
    store: store as never,
    endAll: (id) =>
      rows(database, 'DELETE FROM old_sessions WHERE data LIKE :like', { like: `%"user":"${id}"%` }),
    close: async () => undefined,
  };
});

const REDIS_URL = process.env.LATCHKEY_SPEC_REDIS ?? '';
const withRedis = expressWith(async () => {
  const client = createClient({ url: REDIS_URL });
  await client.connect();
  const prefix = `spec_${randomBytes(6).toString('hex')}:`;
  return {
    store: new RedisStore(client as never, prefix),
    async endAll(id) {
      for (const key of await client.keys(`${prefix}*`))
        if ((await client.get(key))?.includes(`"user":"${id}"`)) await client.del(key);
    },
    close: () => client.close(),
  };
});

/** What connect-redis does: JSON with a time to live, which every request renews. */
class RedisStore extends session.Store {
  constructor(
    private readonly client: ReturnType<typeof createClient>,
    private readonly prefix: string,
  ) {
    super();
  }

  override get(sid: string, done: (error: unknown, data?: session.SessionData | null) => void): void {
    this.client.get(this.prefix + sid).then((text) => done(null, text ? JSON.parse(text) : null), done);
  }

  override set(sid: string, data: session.SessionData, done?: (error?: unknown) => void): void {
    const EX = Math.ceil((data.cookie.originalMaxAge ?? 86_400_000) / 1000);
    this.client.set(this.prefix + sid, JSON.stringify(data), { EX }).then(() => done?.(), done);
  }

  override destroy(sid: string, done?: (error?: unknown) => void): void {
    this.client.del(this.prefix + sid).then(() => done?.(), done);
  }
}

const systems: [string, OldSystem][] = [
  ['better-auth with Kysely', betterAuth],
  ['Auth.js with its Sequelize adapter', authJs],
  ['express-session with a store in SQL', withSql],
  ...(REDIS_URL ? [['express-session with a store in Redis', withRedis] as [string, OldSystem]] : []),
];

describe.each(systems)('an app with %s', (_name, system) => {
  let app: Moved;
  let old: OldApp;
  let people: Person[];
  const ids = new Map<string, string>();

  beforeAll(async () => {
    const endAll = async (userId: string) => {
      const [email = ''] = [...ids].find(([, id]) => id === userId) ?? [];
      await old.endAll(email);
    };
    app = await startApp({
      config: { tablePrefix: 'lk_' },
      plugins: async (database): Promise<Plugins> => [
        ...plugins,
        movingIn({ bridges: [await system.bridge(database, { endAll })] }),
      ],
    });
    old = await system.start(app.database);
    people = Array.from({ length: PEOPLE }, (_, index) => ({
      email: `person${index}@example.com`,
      jar: new CookieJar(),
    }));
    for (const person of people) {
      await old.signIn(person);
      expect(await old.user(person.jar)).toBe(person.email);
    }
    const [first] = people;
    if (first && old.enroll) first.secret = await old.enroll(first);
    const { users, skipped } = await app.auth.movingIn.importUsers(old.people());
    expect([users.length, skipped]).toEqual([PEOPLE, []]);
    for (const { email } of people) ids.set(email, String((await app.auth.users.find({ email }))?.id));
  });
  afterAll(async () => {
    await old.stop();
    await app.stop();
  });

  const here = async (jar: CookieJar) => {
    const { status, body } = await jar.visit(`${app.origin}/auth/me`);
    return status === 200 ? body.user?.id : status;
  };

  /** Sends this share of everybody's requests here, and the others to the old app. @returns who was signed out */
  async function share(percent: number): Promise<string[]> {
    const signedOut: string[] = [];
    await Promise.all(
      people.map(async ({ email, jar }, person) => {
        for (let request = 0; request < REQUESTS; request++) {
          const isHere = (request * 7 + person * 3) % REQUESTS < (percent * REQUESTS) / 100;
          const found = isHere ? (await here(jar)) === ids.get(email) : (await old.user(jar)) === email;
          if (!found) signedOut.push(`${email} ${isHere ? 'here' : 'there'} at ${percent} %`);
        }
      }),
    );
    return signedOut;
  }

  test('a second factor comes along: its user signs in once with it, and stays signed in there', async () => {
    const [person] = people;
    if (!person?.secret) return;
    // What the old session does not show.
    expect(await here(person.jar)).toBe(401);
    const post = (path: string, body: object) =>
      person.jar.visit(`${app.origin}/auth${path}`, { method: 'POST', body });
    await post('/signin/credential', { credential: person.email, password: PASSWORD });
    expect(
      (await post('/signin/second-factor', { method: 'totp', code: codeOf(person.secret) })).status,
    ).toBe(200);
    expect(await old.user(person.jar)).toBe(person.email);
  });

  test(`signs nobody out at ${SHARES.join(', ')} % of the traffic`, async () => {
    for (const percent of SHARES) expect(await share(percent)).toEqual([]);
    for (const id of ids.values()) expect(await app.auth.listSessions(id)).toHaveLength(1);
    expect(await rows(app.database, 'SELECT user_id FROM lk_totp_enrolments')).toEqual([]);
    expect(app.log.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
  });

  test('a sign-out in either app is one in both, and so is the end of all sessions here', async () => {
    const [first, second, third, fourth] = people as [Person, Person, Person, Person];
    for (const one of [first, second]) {
      await old.signOut(one.jar);
      expect(await here(one.jar)).toBe(401);
    }
    await third.jar.visit(`${app.origin}/auth/signout`, { method: 'POST' });
    await app.auth.revokeAllSessions(String(ids.get(fourth.email)));
    for (const one of [third, fourth]) {
      expect(await old.user(one.jar)).toBeUndefined();
      expect(await here(one.jar)).toBe(401);
    }
    people = people.slice(4);
    expect(await share(50)).toEqual([]);
  });
});
