import { describe, expect, test } from '@jest/globals';
import express, { type Express, type RequestHandler } from 'express';
import { labelLayers } from '../../lib/cli/express/load.js';
import { routesOf } from '../../lib/cli/express/walk.js';
import { lineOf, unscopedIn } from '../../lib/cli/routes.js';
import {
  authRouter,
  createAuth,
  organizations,
  publicRoute,
  requireMember,
  requireSession,
} from '../../lib/index.js';
import { memoryLogger, SECRET } from '../support/app.js';

const { labels } = labelLayers(express as never);
const auth = createAuth({
  database: 'sqlite::memory:',
  secret: SECRET,
  plugins: [organizations()],
  logger: memoryLogger(),
});
const session = requireSession(auth);
const member = requireMember(auth);
const answer: RequestHandler = (_req, res) => void res.send('answered');

/** Returns the unscoped routes of an app, and the number of all routes. */
function unscoped(register: (app: Express) => unknown, ...tenants: string[]) {
  const app = express();
  register(app);
  const routes = routesOf({ apps: [app as never], labels, listen: () => undefined as never }, []);
  const found = unscopedIn(routes, tenants.length > 0 ? tenants : ['organization']);
  return { lines: [...found].map(([route, names]) => `${lineOf(route)} → ${names}`), count: routes.length };
}

/** The holes of public apps: each route believes an id of its address. */
const HOLES: Record<string, { readonly tenant: string; readonly hole: (app: Express) => unknown }> = {
  // A guard for users is in front of the tables of every organization.
  'ToolJet#17394': {
    tenant: 'organizationId',
    hole: (app) => app.get('/tooljet-db/organizations/:organizationId/tables', session, answer),
  },
  // One of several routers is mounted without the guard of the others.
  'bigcapital#990': {
    tenant: 'tenantId',
    hole(app) {
      const tenant = requireMember(auth, {
        organization: (req) => req.params.tenantId,
        tenant: 'tenantId',
      });
      app.use('/tenants/:tenantId/accounts', tenant, express.Router({ mergeParams: true }).get('/', answer));
      app.use('/tenants/:tenantId/users', session, express.Router({ mergeParams: true }).get('/', answer));
    },
  },
  // Only the method that changes data is guarded.
  'MeetOnMemory#2571': {
    tenant: 'organization',
    hole: (app) =>
      app.route('/organizations/:organization/meetings').post(member, answer).get(session, answer),
  },
  // The guard reads a header, and the handler reads the address.
  'first-tree#964': {
    tenant: 'organization',
    hole: (app) =>
      app.get(
        '/orgs/:organization/agents',
        requireMember(auth, { organization: (req) => req.get('x-organization') }),
        answer,
      ),
  },
  // A router below the guard has the parameter again.
  'maxun#1079': {
    tenant: 'organization',
    hole(app) {
      const below = express.Router({ mergeParams: true });
      below.get('/copy-to/:organization', answer);
      app.use('/orgs/:organization', member, below);
    },
  },
};

describe('a route that believes an id of its address is unscoped', () => {
  test.each(Object.entries(HOLES))('as in %s', (_name, { tenant, hole }) => {
    expect(unscoped(hole, tenant).lines).toHaveLength(1);
  });

  test('and no other route is', () => {
    const { lines, count } = unscoped((app) => {
      app.get('/a/:organization', member, answer);
      app.get('/b/:organizationId', session, answer);
      app.get('/c', answer);
      app.use('/d/:organization', member, express.Router().get('/x', answer).get('/:id', answer));
      const inner = express.Router({ mergeParams: true });
      inner.use(member);
      inner.get('/x', answer);
      app.use('/e/:organization', inner);
      app.route('/f/:organization').all(member).get(answer).post(answer);
      app.get('/g/:organization', publicRoute('shows the logo only'), answer);
      app.get('/h/:organization', publicRoute('shows the logo only'), session, answer);
      app.use('/i/:organization', authRouter(auth));
    });
    expect(lines).toEqual([]);
    expect(count).toBeGreaterThan(9);
  });
});

test('a guard counts only if it reads the same parameter at the same place', () => {
  const { lines } = unscoped((app) => {
    app.get('/a/:organization', requireMember(auth, { organization: () => 'acme' }), answer);
    app.get(
      '/b/:organization',
      requireMember(auth, { organization: (req) => req.params.organization, tenant: 'organization' }),
      answer,
    );
    app.get(
      '/c/:organization',
      requireMember(auth, { onError: (_error, _req, _res, next) => next() }),
      answer,
    );
    // The guard reads what is the word d or e in the address of the route.
    app.use('/:organization', member);
    app.get('/d/:organization', answer);
    app.get('/:team/:organization', answer);
    app.get('/:organization/f', answer);
  });
  expect(lines.map((line) => line.split(' ')[1])).toEqual([
    '/a/:organization',
    '/c/:organization',
    '/d/:organization',
    '/:team/:organization',
  ]);
});

test('patterns are parameters too', () => {
  const isExpress4 = 'lazyrouter' in express.application;
  const paths = [
    isExpress4 ? '/a/:organization?' : '/a{/:organization}',
    isExpress4 ? '/b/:organization(\\w+)' : '/b/*organization',
    /^\/c\/(?<organization>\w+)$/,
    '/d/:organization.json',
  ];
  for (const path of paths) {
    expect(unscoped((app) => app.get(path, session, answer)).lines).toHaveLength(1);
    expect(unscoped((app) => app.get(path, member, answer)).lines).toEqual([]);
  }
});
