// Several Auths in one process, such as one for each customer.
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, expect, test } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import { CallContext } from '../lib/context/call.js';
import { requireSession } from '../lib/index.js';
import { ada, password, type SpecApp, startApp } from './support/app.js';
import { rows } from './support/database.js';

const plugins = [password()] as const;
type App = SpecApp<typeof plugins>;

const apps: App[] = [];
const start = async (config: object = {}) => {
  const app = await startApp({ plugins, config });
  apps.push(app);
  return app;
};
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop();
});

const signUp = ({ http }: App) => http.post('/auth/signup/credential').send(ada).expect(201);
const emails = ({ database }: App) => rows(database, 'SELECT email FROM users');

test('what a hook does with another one has neither the client nor the transaction of its own', async () => {
  const seen: unknown[] = [];
  const staff = await start();
  const customers: App = await start({
    hooks: {
      async afterCreateUser() {
        await staff.auth.credential.signUp(ada);
        seen.push(await emails(staff), await emails(customers));
      },
    },
  });
  const told: unknown[] = [];
  const bothTold = Promise.all(
    [staff, customers].map(
      ({ auth }, index) =>
        new Promise<void>((resolve) => {
          auth.on('user.created', ({ ip }) => {
            told[index] = ip;
            resolve();
          });
        }),
    ),
  );
  await signUp(customers);
  // Stored at once, while the customer's own transaction is still open.
  expect(seen).toEqual([[{ email: ada.email }], []]);
  await bothTold;
  expect(told).toEqual([null, expect.stringContaining('127.0.0.1')]);
});

test('a call through another one is a call of its own, and leaves the others as they were', async () => {
  const [staff, customers] = [new CallContext(), new CallContext()];
  const from = (ip: string) => ({ ip, userAgent: null, request: null });
  const seen: unknown[] = [];
  const look = async () => void seen.push([staff.client.ip, customers.client.ip]);
  await staff.forClient(from('1'), () =>
    customers.forClient(from('2'), async () => {
      await look();
      await staff.forClient(from('3'), look);
      await staff.detached(look);
      await look();
    }),
  );
  await look();
  expect(seen).toEqual([
    ['1', '2'],
    ['3', '2'],
    [undefined, '2'],
    ['1', '2'],
    [undefined, undefined],
  ]);
});

/** The instances that are used meanwhile. */
async function contextsOf(work: () => Promise<unknown>) {
  const used = new Set<unknown>();
  const { run } = AsyncLocalStorage.prototype;
  AsyncLocalStorage.prototype.run = function (this: AsyncLocalStorage<unknown>, ...given: never[]) {
    used.add(this);
    return run.apply(this, given as never);
  } as typeof run;
  await work().finally(() => {
    AsyncLocalStorage.prototype.run = run;
  });
  return used.size;
}

test('all of them use one AsyncLocalStorage, since each slows down every promise of the process', async () => {
  const several = [await start(), await start(), await start()];
  const signUps = async () => {
    for (const app of several) await signUp(app);
  };
  expect(await contextsOf(signUps)).toBe(1);
});

test('guards use none', async () => {
  const app = await start();
  await signUp(app);
  const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  const server = express()
    .get('/guarded', requireSession(app.auth), (_req, res) => void res.json({}))
    .listen(0, '127.0.0.1');
  try {
    const guarded = async () => {
      for (const status of [200, 401])
        await request(server)
          .get('/guarded')
          .set('cookie', `latchkey=${status === 200 ? token : token.toLowerCase()}`)
          .expect(status);
    };
    expect(await contextsOf(guarded)).toBe(0);
  } finally {
    server.close();
  }
});
