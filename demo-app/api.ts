import { Router } from 'express';
import { currentUser, requireSession } from 'latchkey';
import type { DemoAuth } from './auth.js';
import { keptMails } from './mails.js';

const MAX_SIGN_INS = 100;
const FRESH_SECONDS = 60;

/** The app's own JSON routes, for browsers and for programs with a bearer token or an API key. */
export function api(auth: DemoAuth): Router {
  const router = Router();
  router.use((_req, res, next) => {
    res.set('Cache-Control', 'no-store');
    next();
  });
  router.get('/hello', requireSession(auth), (req, res) => {
    const { username, email } = currentUser(req);
    res.json({ hello: username ?? email ?? 'stranger' });
  });
  // An API key needs the scope for this route. A session can do everything that its user can.
  router.get('/reports', requireSession(auth, { scopes: ['reports:read'] }), async (req, res) => {
    const { id: userId } = currentUser(req);
    const options = { userId, kind: 'session.created', limit: MAX_SIGN_INS };
    const { events } = await auth.auditLog.listEvents(options);
    res.json({
      sign_ins: events.map(({ createdAt, ipAddress }) => ({ at: createdAt, ip_address: ipAddress })),
    });
  });
  // Needs a fresh sign-in: a stranger who finds an unlocked browser cannot download everything.
  router.get('/my-data', requireSession(auth, { freshWithin: FRESH_SECONDS }), async (req, res) => {
    const user = currentUser(req);
    const [sessions, linkedAccounts, apiKeys, passkeys, { events }] = await Promise.all([
      auth.listSessions(user.id),
      auth.oauth.accounts(user.id),
      auth.apiKeys.list(user.id),
      auth.passkeys.list(user.id),
      auth.auditLog.listEvents({ userId: user.id, limit: 200 }),
    ]);
    res.json({ user, sessions, linkedAccounts, apiKeys, passkeys, events });
  });
  // Has no guard, because it takes the place of every user's mailbox. See keepMail().
  router.get('/mails', (_req, res) => {
    res.json({ mails: keptMails() });
  });
  return router;
}
