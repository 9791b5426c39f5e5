import express from 'express';
import { authRouter, createAuth, credentialPassword, currentUser, requireSession } from 'latchkey';

const auth = createAuth({
  database: process.env.DATABASE_URL ?? 'sqlite:./app.db',
  secret: process.env.AUTH_SECRET,
  baseUrl: process.env.BASE_URL ?? 'http://localhost:8080', // what users see in the address bar
  rateLimit: {
    store: process.env.REDIS_URL ?? 'redis://localhost:6379',
    keyPrefix: process.env.REDIS_PREFIX ?? 'behind-nginx:',
  },
  plugins: [credentialPassword()],
});
await auth.migrate(); // of several processes that start together, one migrates

const app = express();
app.set('trust proxy', 'loopback'); // nginx runs on this machine: believe what it says about the client
app.use('/auth', authRouter(auth));
app.get('/hello', requireSession(auth), (req, res) => {
  res.json({ hello: currentUser(req).email, ip: req.ip, protocol: req.protocol });
});

// Only on 127.0.0.1: nobody may reach the app past nginx, and say what they like about their address.
const server = app.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}`);
});

process.once('SIGTERM', () => {
  server.close(() => auth.close());
  setTimeout(() => server.closeAllConnections(), 10_000).unref(); // whoever has not finished by then
});
