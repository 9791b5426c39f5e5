// An app on a Galera cluster, as docs/scaling.md describes it. It uses the first node of its list that takes part in the
// cluster. PORTS are those of the nodes, the preferred one first; SYNC_WAIT is MariaDB's wsrep_sync_wait; LIMITS is JSON.
import { apiKeys, authRouter, createAuth, credentialPassword, passkeys, requireSession } from 'latchkey';
import { createConnection } from 'mysql2/promise';
import { Sequelize } from 'sequelize';
import { newApp, serve } from '../support/serve.mjs';

const { PORTS = '', SYNC_WAIT = '0', LIMITS = 'false' } = process.env;
const ports = PORTS.split(',').map(Number);

const sequelize = new Sequelize('mysql://root@127.0.0.1/latchkey', {
  logging: false,
  pool: { max: 10, idle: 10_000, acquire: 2000 },
  dialectOptions: { connectTimeout: 1000 },
});
sequelize.addHook('beforeConnect', async (config) => {
  config.port = await firstReady();
});
sequelize.addHook('afterConnect', (connection) =>
  connection.promise().query(`SET SESSION wsrep_sync_wait = ${Number(SYNC_WAIT)}`),
);

/** Returns the first node that responds and is part of the cluster. */
async function firstReady() {
  for (const port of ports) {
    const client = await createConnection({
      ...{ host: '127.0.0.1', port, user: 'root', connectTimeout: 500 },
    }).catch(() => null);
    const [rows] = (await client?.query("SHOW STATUS LIKE 'wsrep_ready'").catch(() => null)) ?? [[]];
    client?.destroy();
    if (rows[0]?.Value === 'ON') return port;
  }
  throw new Error('no node of the database is part of the cluster');
}

const auth = createAuth({
  database: sequelize,
  secret: 'a secret for the bench, of 32 bytes and more',
  baseUrl: 'http://localhost',
  rateLimit: JSON.parse(LIMITS),
  logger: { debug() {}, info() {}, warn() {}, error: (...words) => console.error(...words) },
  plugins: [credentialPassword({ bcryptCost: 4 }), passkeys(), apiKeys()],
});
await auth.migrate();

const app = newApp();
app.use('/auth', authRouter(auth));
app.get('/guarded', requireSession(auth), (_req, res) => void res.json({ hello: 'world' }));
// The app's own code, without a session.
app.post('/remove-passkey/:userId/:id', async (req, res) => {
  const refused = await auth.passkeys.remove(req.params.userId, req.params.id).then(
    () => null,
    (error) => error,
  );
  res.sendStatus(refused ? (refused.status ?? 500) : 204);
});
serve(app);
