import express from 'express';
import { authRouter, createAuth, credentialPassword, requireSession } from 'latchkey';
import { stopTelemetry } from './instrumentation.js';

const auth = createAuth({
  database: process.env.DATABASE_URL ?? 'sqlite:./app.db',
  secret: process.env.AUTH_SECRET,
  plugins: [credentialPassword()],
  telemetry: true,
});
await auth.migrate();

const app = express();
app.use('/auth', authRouter(auth));
app.get('/reports/:id', requireSession(auth), (req, res) => {
  res.json({ report: req.params.id, of: req.auth.user.email });
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(`Listening on http://localhost:${server.address().port}`);
});

process.once('SIGTERM', () => {
  server.close(async () => {
    // Metrics are collected a last time here, which reads the outbox. So close the Auth afterwards.
    await stopTelemetry();
    await auth.close();
  });
});
