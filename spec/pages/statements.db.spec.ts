import { afterEach, describe, expect, test } from '@jest/globals';
import { authRouter } from '../../lib/index.js';
import { pages } from '../../lib/pages.js';
import { type SpecApp, startApp } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { mailbox } from '../support/mailbox.js';
import { ownRows } from '../support/own-rows.js';
import { pagesIn } from '../support/pages-walk.js';
import { loggingSequelize } from '../support/statements.js';

const plugins = [...everyPlugin({ sendsEmails: true }), fixedProvider(), pages()] as const;
const root = { email: 'root@example.com', password: 'a root of all admins', emailVerified: true };
let app: SpecApp<typeof plugins>;
let statements: string[] = [];
afterEach(() => app.stop());

describe.each(['columns of the users', 'rows of the app'])('with fields in %s', (place) => {
  test('a page costs the statement of the guard and at most two more', async () => {
    app = await startApp({
      plugins,
      async config(database) {
        const own = place === 'rows of the app' ? ownRows(database) : columns(loggingSequelize(database));
        statements = own.statements;
        if ('model' in own) await own.model.sync();
        return { ...own.config, baseUrl: 'http://localhost', email: { send: mailbox().send } };
      },
      mount: (express, auth) => void express.use('/auth', authRouter(auth)),
    });
    const { id, organizationId } = await fullAccount();
    const { token } = await app.auth.createSession(id);
    const idIn = (path: string) => (path.includes('/organizations/') ? organizationId : id);
    const open = (path: string) =>
      app.http.get(`/auth${path.replace(/:\w+/g, idIn(path))}`).set('Cookie', `latchkey=${token}`);
    const counts: [page: string, status: number, count: number][] = [];
    for (const { path, name } of pagesIn(app.auth)) {
      await open(path);
      const before = sent().length;
      const { status } = await open(path);
      counts.push([name, status, sent().length - before]);
    }
    expect(counts.length).toBeGreaterThan(15);
    expect(counts.filter(([, status]) => status !== 200 && status !== 303)).toEqual([]);
    expect(counts.filter(([, , count]) => count > 3)).toEqual([]);
  });
});

const columns = ({ sequelize, statements }: ReturnType<typeof loggingSequelize>) => ({
  statements,
  config: { database: sequelize, user: { fields: { name: { type: 'string', maxLength: 80 } } } } as const,
});

/** Creates an account that has something in each list of the pages. */
async function fullAccount(): Promise<{ readonly id: string; readonly organizationId: string }> {
  const { id } = await app.auth.users.create(root);
  await app.auth.apiKeys.create(id, { name: 'program' });
  const at = new Date();
  await app.auth.models.Account.create({
    id: '01900000-0000-7000-8000-000000000001',
    userId: id,
    provider: 'fixed',
    issuer: 'https://fixed.example',
    providerAccountId: 'root',
    scopes: '',
    accessToken: 'sealed',
    relinkRequired: false,
    refreshedAt: at,
    createdAt: at,
    updatedAt: at,
  });
  await app.auth.createSession(id);
  const organization = await app.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId: id });
  return { id, organizationId: organization.id };
}

/** Omits the statements that Sequelize sends for a new connection. */
function sent(): string[] {
  return statements.filter(
    (line) =>
      /^Executed/.test(line) &&
      /\b(SELECT|INSERT|UPDATE|DELETE)\b/.test(line) &&
      !/VERSION\(\)|SHOW SERVER_VERSION/i.test(line),
  );
}
