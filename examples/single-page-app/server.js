import { join } from 'node:path';
import express from 'express';
import { authRouter, createAuth, credentialPassword, currentUser, requireSession } from 'latchkey';

const port = Number(process.env.PORT ?? 3000);
const dist = join(import.meta.dirname, 'dist');

const auth = createAuth({
  database: process.env.DATABASE_URL ?? 'sqlite:./app.db',
  secret: process.env.AUTH_SECRET,
  // The origin that the browser shows: in development, Vite's.
  baseUrl: process.env.BASE_URL ?? `http://localhost:${port}`,
  plugins: [credentialPassword({ signInOnSignUp: true })],
});
await auth.migrate();

const app = express();
app.use('/auth', authRouter(auth));
app.get('/api/greeting', requireSession(auth), (req, res) => {
  res.json({ greeting: `Hello ${currentUser(req).email}` });
});
app.use('/api', (req, res) => res.status(404).json({ error: 'not found' }));

app.use(express.static(dist));
app.get(/.*/, (req, res) => res.sendFile('index.html', { root: dist }));

const server = app.listen(port, () => console.log(`http://localhost:${server.address().port}`));
process.once('SIGTERM', () => server.close(() => auth.close()));
