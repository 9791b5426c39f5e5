// An app with pages and altcha(), in the process of the benchmark, because only the browser is measured.
import express from 'express';
import { authRouter, createAuth, credentialPassword } from 'latchkey';
import { altcha } from 'latchkey/human-check';
import { pages } from 'latchkey/pages';

export async function startServer() {
  const app = express();
  const server = await new Promise((resolve) => {
    const listening = app.listen(0, 'localhost', () => resolve(listening));
  });
  const origin = `http://localhost:${server.address().port}`;
  const auth = createAuth({
    database: 'sqlite::memory:',
    secret: 'a secret of the benchmarks, of 32 bytes and more',
    baseUrl: origin,
    email: { send: () => undefined },
    humanCheck: altcha(),
    plugins: [credentialPassword(), pages()],
  });
  await auth.migrate();
  app.use('/auth', authRouter(auth));
  return {
    origin,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await auth.close();
    },
  };
}
