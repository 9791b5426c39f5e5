import express from 'express';
import { authRouter, createAuth, credentialPassword, currentUser, requireSession } from 'latchkey';

const auth = createAuth({
  database: process.env.DATABASE_URL ?? 'sqlite:./app.db',
  secret: process.env.AUTH_SECRET,
  baseUrl: process.env.BASE_URL ?? 'http://localhost:8080', // the address that users see in the browser
  rateLimit: {
    store: process.env.REDIS_URL ?? 'redis://localhost:6379?keyPrefix=behind-nginx:',
  },
  plugins: [credentialPassword()],
});
await auth.migrate(); // of several processes that start together, one migrates

const app = express();
app.set('trust proxy', 'loopback'); // nginx runs on this machine, so trust its headers about the client
app.use('/auth', authRouter(auth));
app.get('/hello', requireSession(auth), (req, res) => {
  res.json({ hello: currentUser(req).email, ip: req.ip, protocol: req.protocol });
});

// Listen only on 127.0.0.1, so that no client can reach the app without nginx and claim another address.
const server = app.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}`);
});

process.once('SIGTERM', () => {
  server.close(() => auth.close());
  setTimeout(() => server.closeAllConnections(), 10_000).unref(); // clients that have not finished by then
});
