import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import express from 'express';
import { listen } from '../listen.js';
import { DEMO_PROVIDER, ORIGIN, PROVIDER_PORT } from '../settings.js';
import { answerProblem } from './problem.js';
import { createProvider } from './provider.js';

/**
 * Starts a provider next to the app, in the role of Google or GitHub: a real OpenID Connect server that lets users sign
 * in under any name. It does not remember users, so that you can sign in as someone else each time.
 */
export async function startDemoProvider(): Promise<Server> {
  const people = new Map<string, Record<string, unknown>>();
  const provider = createProvider(people);
  const app = express();
  app.disable('x-powered-by');
  app.use((_req, res, next) => {
    // The response to the form redirects to the app, and browsers apply form-action to that redirect too.
    res.set(
      'Content-Security-Policy',
      `default-src 'self'; form-action 'self' ${ORIGIN}; frame-ancestors 'none'`,
    );
    next();
  });
  for (const file of ['sign-in.css', 'favicon.svg']) {
    app.get(`/${file}`, (_req, res) => res.sendFile(file, { root: import.meta.dirname }));
  }
  app.get('/interaction/:uid', async (req, res) => {
    await provider.interactionDetails(req, res);
    res.set('Cache-Control', 'no-store').sendFile('sign-in.html', { root: import.meta.dirname });
  });
  app.post('/interaction/:uid', express.urlencoded({ extended: false }), async (req, res) => {
    const { name, email, email_verified, answer } = req.body ?? {};
    if (answer === 'decline') {
      await provider.interactionFinished(req, res, {
        error: 'access_denied',
        error_description: 'the user declined',
      });
      return;
    }
    const accountId = subjectOf(email);
    people.set(accountId, { name, email, email_verified: email_verified === 'on' });
    await provider.interactionFinished(req, res, { login: { accountId } });
  });
  app.use(provider.callback());
  app.use(answerProblem);
  const server = createServer(app);
  await listen(server, PROVIDER_PORT, new URL(DEMO_PROVIDER.issuer).hostname, 'PROVIDER_PORT');
  return server;
}

/** The same email always has the same subject, even after a restart, because the app uses it to find accounts. */
function subjectOf(email: unknown): string {
  return createHash('sha256').update(String(email).toLowerCase()).digest('hex').slice(0, 16);
}
