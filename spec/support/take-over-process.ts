// An app with a bridge in its own process, on the database of a spec. On request, it sends several requests with one
// old cookie at the same time, and reports their statuses. If it `waits`, it first reports that all of them have
// reached the old store, and continues on the next request. Meanwhile, no time limit passes, because on a busy machine
// the other process can take longer than latchkey waits for a store.
import express from 'express';
import { connectByUrl } from '../../lib/database/connect.js';
import { createAuth, requireSession } from '../../lib/index.js';
import { expressSession, movingIn } from '../../lib/moving-in.js';
import { timers } from '../../lib/timers.js';
import { memoryLogger, password, SECRET } from './app.js';
import { listening, OLD_SECRET, sessionStore } from './old-app.js';

const { database, cookie, times, waits, keepOld = false } = JSON.parse(process.argv[2] ?? '{}');
const { setTimeout: startTimer } = timers;
if (waits)
  Object.assign(timers, {
    setTimeout: (run: () => void, ms = 0, ...args: []) => startTimer(run, 100 * ms, ...args),
  });
const sequelize = connectByUrl(database);
if (!sequelize) throw new Error(`no database at ${database}`);
const store = sessionStore({ sequelize });
const waiting: (() => void)[] = [];
const bridge = expressSession({
  store: {
    get(id, done) {
      waiting.push(() => store.get(id, done as never));
      if (!waits) for (const read of waiting.splice(0)) read();
      else if (waiting.length === times) process.send?.('reading');
    },
    destroy: (id, done) => store.destroy(id, done as never),
  },
  secret: OLD_SECRET,
  userId: (data) => data.passport?.user,
  keepOld,
});
const auth = createAuth({
  database,
  secret: SECRET,
  plugins: [password(), movingIn({ bridges: [bridge] })],
  logger: memoryLogger(),
});
const app = await listening(
  express().get('/page', requireSession(auth), (_req, res) => void res.json({ by: process.pid })),
);

process.once('message', async () => {
  const answers = Array.from({ length: times }, () => fetch(`${app.origin}/page`, { headers: { cookie } }));
  if (waits)
    process.once('message', () => {
      for (const read of waiting.splice(0)) read();
    });
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  await app.stop();
  await auth.close();
  await sequelize.close();
  process.send?.(statuses, () => process.disconnect());
});
// Connects first, so that the requests start as soon as the message arrives.
await auth.listSessions('01900000-0000-7000-8000-000000000000');
process.send?.('ready');
