import { Router } from 'express';
import { currentUser, requireSession } from 'latchkey';
import type { DemoAuth } from '../auth.js';

const FRESH_SECONDS = 60;

/** What users can see about their own accounts. */
export function myData(auth: DemoAuth): Router {
  const router = Router();
  // Someone who finds an unlocked browser must not be able to download everything, so this needs a fresh sign-in.
  router.get('/my-data', requireSession(auth, { freshWithin: FRESH_SECONDS }), async (req, res) => {
    const user = currentUser(req);
    const [sessions, linkedAccounts, apiKeys, passkeys, { events }] = await Promise.all([
      auth.listSessions(user.id),
      auth.oauth.accounts(user.id),
      auth.apiKeys.list(user.id),
      auth.passkeys.list(user.id),
      auth.auditLog.listEvents({ userId: user.id, limit: 200 }),
    ]);
    res.set('Cache-Control', 'no-store').json({ user, sessions, linkedAccounts, apiKeys, passkeys, events });
  });
  return router;
}
