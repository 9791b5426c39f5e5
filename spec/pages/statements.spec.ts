import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { authRouter } from '../../lib/index.js';
import { pages } from '../../lib/pages.js';
import { type SpecApp, startApp } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { mailbox } from '../support/mailbox.js';
import { pagesIn } from '../support/pages-walk.js';
import { loggingSequelize } from '../support/statements.js';

const plugins = [...everyPlugin({ sendsEmails: true }), fixedProvider(), pages()] as const;
let app: SpecApp<typeof plugins>;
let statements: string[] = [];
beforeAll(async () => {
  app = await startApp({
    plugins,
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return { database: own.sequelize, baseUrl: 'http://localhost', email: { send: mailbox().send } };
    },
    mount: (express, auth) => void express.use('/auth', authRouter(auth)),
  });
});
afterAll(() => app.stop());

/** The pages that need more than the statement of the guard and two others, because they show many tables. */
const MORE: Readonly<Record<string, number>> = {
  reauthenticate: 6,
  'account/security': 11,
  'administration/users/user': 8,
};

test('a page costs the statement of the guard and at most two more, except for those that show many tables', async () => {
  const { id } = await app.auth.users.create({ email: 'root@example.com', emailVerified: true });
  const { token } = await app.auth.createSession(id);
  const open = (path: string) =>
    app.http.get(`/auth${path.replace(/:\w+/g, id)}`).set('Cookie', `latchkey=${token}`);
  const counts: [page: string, status: number, count: number][] = [];
  for (const { path, name } of pagesIn(app.auth)) {
    await open(path);
    const before = sent().length;
    const { status } = await open(path);
    counts.push([name, status, sent().length - before]);
  }
  expect(counts.length).toBeGreaterThan(15);
  expect(counts.filter(([, status]) => status !== 200 && status !== 303)).toEqual([]);
  expect(counts.filter(([name, , count]) => count > (MORE[name] ?? 3))).toEqual([]);
});

/** Omits the statements that Sequelize sends for a new connection. */
function sent(): string[] {
  return statements.filter(
    (line) =>
      /^Executed/.test(line) &&
      /\b(SELECT|INSERT|UPDATE|DELETE)\b/.test(line) &&
      !/VERSION\(\)|SHOW SERVER_VERSION/i.test(line),
  );
}
