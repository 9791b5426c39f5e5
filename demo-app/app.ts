import { join } from 'node:path';
import express, { type Express, type RequestHandler } from 'express';
import { authRouter } from 'latchkey';
import { api } from './api.js';
import type { DemoAuth } from './auth.js';
import { answerError, notFound } from './errors.js';
import { ownPages } from './pages.js';
import { ORIGIN } from './settings.js';

export function createApp(auth: DemoAuth): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(securityHeaders);
  app.use(redirectToOrigin);
  // Its routes and pages are below /auth. It is mounted at the root for /.well-known/change-password.
  app.use(authRouter(auth));
  app.use('/api', api(auth));
  app.use(ownPages(auth));
  app.use(express.static(join(import.meta.dirname, 'public')));
  app.use(notFound);
  app.use(answerError);
  return app;
}

const securityHeaders: RequestHandler = (_req, res, next) => {
  res.set({
    // For the app's own pages; those of latchkey set their own. Only the app's own files are loaded, so a script that an
    // attacker injects into a page does not run.
    'Content-Security-Policy':
      "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  });
  next();
};

/**
 * Redirects requests for another host name, such as 127.0.0.1, to the app's origin. Providers redirect back to this
 * origin, and the callback needs the cookie that was set there. This also prevents DNS rebinding: a foreign host name
 * that resolves to this machine does not reach the app.
 */
const redirectToOrigin: RequestHandler = (req, res, next) => {
  if (req.headers.host === new URL(ORIGIN).host) next();
  else res.redirect(307, ORIGIN + req.originalUrl);
};
