import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import connectSequelize from 'connect-session-sequelize';
import express, { type Express } from 'express';
import session from 'express-session';
import { Passport } from 'passport';
import { keepingIdle } from './client.js';
import type { SpecDatabase } from './database.js';

export const OLD_SECRET = 'the secret of the old app';

/** An app that listens, until it is stopped. */
export async function listening(app: Express): Promise<{ origin: string; stop(): Promise<void> }> {
  const server = await new Promise<Server>((resolve) => {
    const started = keepingIdle(app.listen(0, '127.0.0.1', () => resolve(started)));
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The store of express-session in the database of a spec. */
export function sessionStore({ sequelize }: Pick<SpecDatabase, 'sequelize'>) {
  const Store = connectSequelize(session.Store);
  return new Store({ db: sequelize, tableName: 'old_sessions', checkExpirationInterval: -1 });
}

export type OldStore = ReturnType<typeof sessionStore>;

/** An app with express-session and passport, whose users sign in by POST /login/:id. */
export async function startOldApp(store: OldStore, cookie: session.CookieOptions = { maxAge: 3_600_000 }) {
  await store.sync();
  const app = express();
  app.use(session({ secret: OLD_SECRET, store, resave: false, saveUninitialized: false, cookie }));
  const passport = new Passport();
  passport.serializeUser((user, done) => done(null, (user as { id: string }).id));
  passport.deserializeUser((id, done) => done(null, { id } as never));
  app.use(passport.initialize(), passport.session());
  app.post('/login/:id', (req, res, next) => {
    req.login({ id: req.params.id } as never, (error) => (error ? next(error) : void res.sendStatus(204)));
  });
  app.post('/cart', (req, res) => {
    Object.assign(req.session, { cart: ['a book'] });
    res.sendStatus(204);
  });
  /** Ends the session. With `?clears`, the response also clears the cookie, as most systems do. */
  app.post('/logout', (req, res, next) => {
    req.session.destroy((error) => {
      if (error) return next(error);
      if (req.query.clears !== undefined) res.clearCookie('connect.sid');
      res.sendStatus(204);
    });
  });
  /** Signs another user in, in the same session. */
  app.post('/switch/:id', (req, res) => {
    Object.assign(req.session, { passport: { user: req.params.id } });
    res.sendStatus(204);
  });
  app.get('/me', (req, res) => void res.json({ user: req.user ?? null }));
  return listening(app);
}
