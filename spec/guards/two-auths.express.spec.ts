import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import {
  type AuthWith,
  authRouter,
  createAuth,
  currentUser,
  optionalSession,
  organizations,
  requireMember,
  requireSession,
} from '../../lib/index.js';
import {
  ada,
  memoryLogger,
  password,
  SECRET,
  type SpecApp,
  sessionCookie,
  startApp,
} from '../support/app.js';
import { createDatabase, type SpecDatabase } from '../support/database.js';
import { expectProblem } from '../support/problem.js';

// Two realms in one app, such as customers and staff: each has its own accounts, and a cookie with its own name.
const plugins = [password()] as const;
const ofCustomers = [...plugins, organizations()] as const;
const goOn = (_error: unknown, _req: Request, _res: Response, next: () => void) => next();
const seen = (req: Request, res: Response) => void res.json(req.auth?.user.email ?? null);

let app: SpecApp<typeof ofCustomers>;
let staff: AuthWith<typeof plugins>;
let staffDatabase: SpecDatabase;
beforeAll(async () => {
  staffDatabase = await createDatabase();
  staff = createAuth({
    database: staffDatabase.url,
    secret: SECRET,
    plugins,
    rateLimit: false,
    logger: memoryLogger(),
    session: { cookie: { name: 'staff' } },
  });
  await staff.migrate();
  app = await startApp({
    plugins: ofCustomers,
    mount(express, customers) {
      express.use('/auth', authRouter(customers));
      express.use('/staff', authRouter(staff));
      express.get('/optional', requireSession(customers), optionalSession(staff), seen);
      express.get('/lenient', requireSession(customers), requireSession(staff, { onError: goOn }), seen);
      express.get(
        '/narrow',
        optionalSession(customers),
        optionalSession(staff, { accept: ['cookie'] }),
        seen,
      );
      express.get('/both', optionalSession(staff), requireSession(customers), seen);
      express.get('/current', requireSession(customers), optionalSession(staff), (req, res) => {
        res.json(currentUser(req).email);
      });
      express.get('/either', optionalSession(customers), optionalSession(staff), seen);
      const member = requireMember(customers, { onError: goOn });
      express.get('/teams/:organization', member, requireSession(staff), seen);
    },
  });
  await app.auth.credential.signUp(ada);
  await staff.credential.signUp({ ...ada, email: 'staff@example.com' });
});
afterAll(async () => {
  await app.stop();
  await staff.close();
  await staffDatabase.drop();
});

let customer: string;
let employee: string;
beforeEach(async () => {
  const { password } = ada;
  const one = await app.auth.credential.signIn({ credential: ada.email, password });
  const two = await staff.credential.signIn({ credential: 'staff@example.com', password });
  customer = `latchkey=${one.token}`;
  employee = `staff=${two.token}`;
});

const get = (path: string, ...cookies: string[]) => app.http.get(path).set('cookie', cookies.join('; '));

describe('a guard of another Auth', () => {
  test.each(['/optional', '/lenient'])('that finds nobody leaves nobody on %s', async (path) => {
    await get(path, customer).expect(200, 'null');
    await get(path, customer, 'staff=junk').expect(200, 'null');
    await get(path, customer, employee).expect(200, '"staff@example.com"');
  });

  test('that finds nobody leaves none to currentUser', async () => {
    const answer = await get('/current', customer);
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain(ada.email);
    await get('/current', customer, employee).expect(200, '"staff@example.com"');
  });

  test('does not read the organization that a guard before it has asked for', async () => {
    // The database of the staff has no organizations.
    await get('/teams/acme', employee).expect(200, '"staff@example.com"');
    await get('/teams/acme', customer, employee).expect(200, '"staff@example.com"');
  });

  test('replaces the other’s result', async () => {
    await get('/both', customer, employee).expect(200, `"${ada.email}"`);
    await get('/either', customer).expect(200, 'null');
    expectProblem(await get('/both', employee), 401, 'unauthenticated');
  });

  test('does not take the other’s cookie, under either name', async () => {
    const token = (cookie: string) => cookie.split('=')[1];
    expectProblem(await get('/auth/me', employee), 401, 'unauthenticated');
    expectProblem(await get('/auth/me', `latchkey=${token(employee)}`), 401, 'invalid_session');
    expectProblem(await get('/staff/me', `staff=${token(customer)}`), 401, 'invalid_session');
  });
});

describe('the cookie of one Auth', () => {
  const cleared = (answer: Parameters<typeof sessionCookie>[0]) =>
    ['latchkey', 'staff'].filter((name) => sessionCookie(answer, name)?.value === '');

  test('is cleared by its own guard only', async () => {
    expect(cleared(await get('/either', customer, 'staff=junk'))).toEqual(['staff']);
    expect(cleared(await get('/either', 'latchkey=junk', employee))).toEqual(['latchkey']);
    expect(cleared(await get('/either', 'latchkey=junk', 'staff=junk'))).toEqual(['latchkey', 'staff']);
    expect(cleared(await get('/either', customer, employee))).toEqual([]);
  });

  test('is kept by a sign-in and a sign-out of the other', async () => {
    const signin = await app.http
      .post('/staff/signin/credential')
      .set('cookie', `${customer}; ${employee}`)
      .send({ credential: 'staff@example.com', password: ada.password })
      .expect(200);
    expect(sessionCookie(signin)).toBeUndefined();
    expectProblem(await get('/staff/me', employee), 401, 'invalid_session');
    const fresh = `staff=${sessionCookie(signin, 'staff')?.value}`;
    const signout = await app.http.post('/staff/signout').set('cookie', `${customer}; ${fresh}`).expect(204);
    expect(cleared(signout)).toEqual(['staff']);
    await get('/auth/me', customer).expect(200);
  });
});
