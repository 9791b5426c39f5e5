// An app in two workers of Node's cluster, on one port. The header `x-worker` contains the worker that has responded.
// On request, the first process reports the port.
import cluster from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { authRouter, createAuth, requireSession } from '../../lib/index.js';
import { memoryLogger, password, SECRET } from './app.js';

if (cluster.isPrimary) {
  const workers = [cluster.fork(), cluster.fork()];
  const [[{ port }]] = (await Promise.all(workers.map((worker) => once(worker, 'listening')))) as [
    [AddressInfo],
  ];
  process.on('message', () => void process.send?.(port));
  process.send?.('ready');
} else {
  const { database, tablePrefix, rateLimit } = JSON.parse(process.argv[2] ?? '{}');
  const plugins = [password()];
  const auth = createAuth({
    database,
    secret: SECRET,
    tablePrefix,
    rateLimit,
    plugins,
    logger: memoryLogger(),
  });
  const app = express();
  app.use((_req, res, next) => {
    res.set('x-worker', String(cluster.worker?.id));
    next();
  });
  app.use('/auth', authRouter(auth));
  app.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
  const server = app.listen(0, '127.0.0.1');
  // A client with a keep-alive connection would always reach the same worker.
  server.keepAliveTimeout = 0;
}
