// The app of the load: the built package, in a process that tells its parent about its memory.
import { readdirSync } from 'node:fs';
import * as latchkey from 'latchkey';
import { newApp } from '../support/serve.mjs';
import { createAdmins, loadConfig, mountLoad } from './app.mjs';

const lanes = Number(process.env.BENCH_LANES);
const auth = latchkey.createAuth({ database: process.env.BENCH_URL, ...loadConfig(latchkey, lanes) });
await auth.migrate();
await createAdmins(auth, lanes, process.env.BENCH_ADMIN_PASSWORD);
const app = newApp();
mountLoad(latchkey, app, auth);
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
// Longer than any pause of the load, so that a connection never ends just when it is used.
server.keepAliveTimeout = 120_000;

process.on('message', async ({ id, what }) => {
  try {
    process.send({ id, result: await { sample, prune: () => auth.prune() }[what]() });
  } catch (error) {
    process.send({ id, error: error.message });
  }
});

function sample() {
  global.gc();
  global.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const handles = {};
  for (const type of process.getActiveResourcesInfo()) handles[type] = (handles[type] ?? 0) + 1;
  return { rss, heapUsed, external, handles, files: readdirSync('/proc/self/fd').length };
}
