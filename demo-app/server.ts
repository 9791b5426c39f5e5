import { createServer } from 'node:http';
import { relative } from 'node:path';
import { ADMIN_EMAIL, ensureAdministrator } from './administrator.js';
import { createApp } from './app.js';
import { auth } from './auth.js';
import { startDemoProvider } from './demo-provider/server.js';
import { listen } from './listen.js';
import { ORIGIN, PORT } from './settings.js';

const HOUR_MS = 60 * 60 * 1000;
const PATIENCE_MS = 10_000;

await auth.migrate();
const passwordFile = await ensureAdministrator(auth);
const server = createServer(createApp(auth));
// For this machine only: whoever can read the page of mails can take over every account.
await listen(server, PORT, 'localhost', 'PORT');
const provider = await startDemoProvider();
console.log(`The demo is at ${ORIGIN}`);
console.log(`Its administrator is ${ADMIN_EMAIL}; the password is in ${relative('', passwordFile)}`);

setInterval(() => auth.prune().catch(console.error), HOUR_MS).unref();
process.on('SIGTERM', stop);
process.on('SIGINT', stop);

/** Takes no new requests, lets those under way end, and then lets the process end by itself. */
function stop(): void {
  // A signal can come twice: from the terminal, and passed on by npm.
  if (!server.listening) return;
  server.close(() => {
    // Only now: a request that was under way may have needed the provider.
    provider.close();
    provider.closeAllConnections();
    auth.close();
  });
  // Browsers keep their connections for later requests; those would hold the process.
  server.keepAliveTimeout = 1;
  setTimeout(() => server.closeAllConnections(), PATIENCE_MS).unref();
}
