import { createServer } from 'node:http';
import { relative } from 'node:path';
import { ensureAdministrator } from './administrator.js';
import { createApp } from './app.js';
import { auth } from './auth.js';
import { startDemoProvider } from './demo-provider/server.js';
import { listen } from './listen.js';
import { ADMIN_EMAIL, ORIGIN, PORT } from './settings.js';

const HOUR_MS = 60 * 60 * 1000;
const SHUTDOWN_TIMEOUT_MS = 10_000;

await auth.migrate();
const passwordFile = await ensureAdministrator(auth);
const server = createServer(createApp(auth));
// Listens on localhost only: anyone who can read the emails can take over every account.
await listen(server, PORT, 'localhost', 'PORT');
const provider = await startDemoProvider();
console.log(`The demo is at ${ORIGIN}`);
console.log(`Sign in as the administrator ${ADMIN_EMAIL} with the password in ${relative('', passwordFile)}`);

setInterval(() => auth.prune().catch(console.error), HOUR_MS).unref();
process.on('SIGTERM', stop);
process.on('SIGINT', stop);

/** Accepts no new requests and completes the current ones. Then the process exits because nothing is left to do. */
function stop(): void {
  // A signal can arrive twice: from the terminal, and forwarded by npm.
  if (!server.listening) return;
  server.close(() => {
    // Not earlier: the last requests may have needed the provider.
    provider.close();
    provider.closeAllConnections();
    auth.close();
  });
  // Browsers keep idle connections open, which would keep the process running.
  server.keepAliveTimeout = 1;
  setTimeout(() => server.closeAllConnections(), SHUTDOWN_TIMEOUT_MS).unref();
}
