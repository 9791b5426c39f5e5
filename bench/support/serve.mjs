// The frame of every measured server: Express 5, without what no server here needs.
import express from 'express';

/** An Express app as all servers use it. */
export function newApp() {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  return app;
}

/**
 * Listens on a free port of the loopback interface and prints it, which `startServer` waits for.
 *
 * @param {import('express').Express} app
 */
export function serve(app) {
  const server = app.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
  server.keepAliveTimeout = 60_000;
  return server;
}
