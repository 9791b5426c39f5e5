import { join } from 'node:path';
import cookieParser from 'cookie-parser';
import express, { type Express, type RequestHandler } from 'express';
import { authRouter } from 'latchkey';
import type { DemoAuth } from './auth.js';
import { api } from './routes/api.js';
import { errors } from './routes/errors.js';
import { myData } from './routes/my-data.js';
import { pages } from './routes/pages.js';
import { publicData } from './routes/public-data.js';
import { theme } from './routes/theme.js';
import { ORIGIN } from './settings.js';

export function createApp(auth: DemoAuth): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(securityHeaders);
  app.use(redirectToOrigin);
  app.use(cookieParser());
  app.use('/auth', authRouter(auth));
  app.use('/api', api(auth), myData(auth), publicData());
  app.use(theme());
  app.use(pages(auth));
  app.use(express.static(join(import.meta.dirname, 'public')));
  const { notFound, answerError } = errors(auth);
  app.use(notFound);
  app.use(answerError);
  return app;
}

const securityHeaders: RequestHandler = (_req, res, next) => {
  res.set({
    // Allows only scripts and styles from the app's own files, so that a script that an attacker injects into a page
    // does not run.
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
