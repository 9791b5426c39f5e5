// An app of the crash test. It is killed without notice, so it has no end of its own.
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Sequelize } from 'sequelize';
import { internalsOf } from '../../../lib/auth.js';
import { authRouter, createAuth, requireSession } from '../../../lib/index.js';
import { memoryLogger } from '../app.js';
import { atStatements } from '../at-statements.mjs';
import { importUsers } from '../import-users.js';
import { setLimits } from '../limits.js';
import {
  crashConfig,
  FIXED_LIMITS,
  IMPORTED,
  importedEmail,
  type Order,
  PROVIDER,
  type Report,
  type Surroundings,
  type Work,
} from './app.js';

const surroundings = JSON.parse(process.argv[2] ?? '{}') as Surroundings;
const report = (what: Report) => void process.send?.(what);
// Its parent is gone.
process.on('disconnect', () => process.exit(1));

interface Death {
  isSet: boolean;
  spared: number;
  moment: 'before' | 'after';
}
const death: Death = { isSet: false, spared: 0, moment: 'before' };

const received = new Map<number, () => void>();
let mails = 0;
const auth = createAuth({
  ...crashConfig(surroundings, ({ kind, to, token = '', code }) => {
    // Sent when the parent says that it has it.
    const mail = ++mails;
    report({ mail, message: { kind, to, token: token || code } });
    return new Promise<void>((resolve) => received.set(mail, resolve));
  }),
  logger: memoryLogger(),
});
setLimits(auth, FIXED_LIMITS);
const { core } = internalsOf(auth);
const { sequelize } = core.database;
const isBusy = dieAtStatement(sequelize);

const orders: Record<Work['what'], (order: Work) => Promise<unknown>> = {
  prune: () => auth.prune(),
  deliver: () => auth.outbox.deliver(),
  async import(order) {
    const batch = 'batch' in order ? order.batch : 0;
    const { skipped } = await importUsers(
      auth,
      Array.from({ length: IMPORTED }, (_, index) => {
        const email = importedEmail(batch, index);
        return { ref: email, email, emailVerified: true, accounts: [{ provider: PROVIDER, subject: email }] };
      }),
    );
    if (skipped.length > 0) throw new Error(`skipped: ${JSON.stringify(skipped)}`);
  },
  /** Until nothing that was asked for is still sent to the database. */
  async settle() {
    while (isBusy()) await new Promise((resolve) => setTimeout(resolve, 5));
    await core.database.settle();
  },
};
process.on('message', async (order: Order | { received: number }) => {
  if ('received' in order) return received.get(order.received)?.();
  if (order.what === 'die') return void Object.assign(death, order, { isSet: true });
  const failed = await orders[order.what](order).then(
    () => undefined,
    (error) => String(error),
  );
  report({ id: order.id, ...(failed && { error: failed }) });
});

const app = express();
app.use('/auth', authRouter(auth));
app.get('/page', requireSession(auth), ({ auth: { user, session, via } = {} as never }, res) => {
  res.json({ user: user.id, email: user.email, session: session?.id, aal: session?.aal, via });
});
const server = app.listen(0, '127.0.0.1', () => report({ port: (server.address() as AddressInfo).port }));
server.keepAliveTimeout = 120_000;

/** Lets `death` happen. @returns whether a statement or a transaction is under way */
function dieAtStatement(sequelize: Sequelize): () => boolean {
  let underWay = 0;
  atStatements(sequelize, (sql) => {
    const isLast = death.isSet && isWrite(sql) && death.spared-- <= 0;
    if (isLast && death.moment === 'before') process.kill(process.pid, 'SIGKILL');
    underWay++;
    return () => {
      underWay--;
      if (isLast) process.kill(process.pid, 'SIGKILL');
    };
  });
  const transaction = sequelize.transaction.bind(sequelize) as (...args: unknown[]) => Promise<unknown>;
  sequelize.transaction = (async (...args: unknown[]) => {
    underWay++;
    return transaction(...args).finally(() => underWay--);
  }) as typeof sequelize.transaction;
  return () => underWay > 0;
}

function isWrite(sql: string): boolean {
  return /^\s*(INSERT|UPDATE|DELETE|COMMIT|START|BEGIN|REPLACE)/i.test(sql) && !sql.includes('rate_limits');
}
