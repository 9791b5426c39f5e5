import { afterEach, describe, expect, test } from '@jest/globals';
import { altcha } from '../../lib/human-check.js';
import type { AuthConfig } from '../../lib/index.js';
import { password, type SpecApp, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { rows } from '../support/database.js';
import { signUps, signUpWith, solutionOf, solved, tokenOf } from '../support/human.js';
import { startMailApp } from '../support/mail-app.js';
import { loggingSequelize } from '../support/statements.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(config: Partial<AuthConfig<never>>) {
  const app = await startMailApp({ plugins: [password()], config: config as object });
  ends.push(app.stop);
  return app as unknown as SpecApp<never>;
}

const rules: Record<string, AuthConfig['rateLimit']> = {
  'rateLimit is false': false,
  'rateLimit has its defaults': { signUp: false, mailAddress: false },
};

describe.each(Object.entries(rules))('where %s', (_name, rateLimit) => {
  test('one of 16 equal tokens passes, and it stays used for 15 minutes', async () => {
    const app = await start({ rateLimit, humanCheck: { verify: () => true } });
    expect(await signUps(app, () => 'a token')).toEqual({ 201: 1, 403: 15 });
    advance(app.auth, 14 * 60);
    await signUpWith(app, 'a token').expect(403);
    expect(await app.auth.prune({ dryRun: true })).toBe(0);
    advance(app.auth, 61);
    // The store contains no token, only hashes, and its rows expire.
    expect(await app.auth.prune()).toBe(1);
    await signUpWith(app, 'a token').expect(201);
    expect(JSON.stringify(await rows(app.database, 'SELECT * FROM rate_limits'))).not.toContain('a token');
  });

  test('one of 16 spellings of one solution passes', async () => {
    const app = await start({ rateLimit, humanCheck: altcha({ cost: 100 }) });
    const { body: challenge } = await app.http.get('/auth/human-challenge').expect(200);
    // Another solution of the same challenge does not help either.
    const solutions = [solutionOf(challenge), solutionOf(challenge, 1)] as const;
    const spellings = (index: number) => {
      const token = tokenOf({ ...challenge, extra: index }, { ...solutions[index % 2], time: index });
      return index % 3 ? token : token.replaceAll('=', '');
    };
    expect(await signUps(app, spellings)).toEqual({ 201: 1, 403: 15 });
    await signUpWith(app, await solved(app)).expect(201);
  });
});

test('nothing is stored for a challenge before it is spent', async () => {
  const app = await start({ humanCheck: altcha({ cost: 100 }) });
  const before = await rows(app.database, 'SELECT COUNT(*) AS n FROM rate_limits');
  const token = await solved(app);
  await app.http.get('/auth/human-challenge').expect(200);
  expect(await rows(app.database, 'SELECT COUNT(*) AS n FROM rate_limits')).toEqual(before);
  await signUpWith(app, token).expect(201);
  expect(await rows(app.database, 'SELECT COUNT(*) AS n FROM rate_limits')).not.toEqual(before);
});

test('the work for a sign-in in an unknown browser does not reveal whether the account exists', async () => {
  let statements: string[] = [];
  const app = await startApp({
    plugins: [password()],
    tables: {},
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return {
        database: own.sequelize,
        humanCheck: { verify: (token) => token === 'right', routes: ['signin/credential'] },
      };
    },
  });
  ends.push(app.stop);
  const known = { email: 'ada@example.com', password: 'an analytical engine' };
  await app.auth.credential.signUp(known);
  const other = await app.auth.credential.signIn({ credential: known.email, password: known.password });
  expect(other.user.email).toBe(known.email);
  const workOf = async (credential: string) => {
    statements.length = 0;
    await app.http
      .post('/auth/signin/credential')
      // The browser of another account.
      .set('cookie', `latchkey-device=lkd_${'a'.repeat(43)}`)
      .send({ credential, password: known.password })
      .expect(403);
    return statements.map((statement) => statement.replace(/'[^']*'/g, '?'));
  };
  const work = await workOf(known.email);
  expect(work.length).toBeGreaterThan(0);
  expect(await workOf('nobody@example.com')).toEqual(work);
});
