import { Router } from 'express';
import { currentUser, requireSession } from 'latchkey';
import { Op } from 'sequelize';
import type { DemoAuth } from '../auth.js';

const FRESH_SECONDS = 60;

/** What users can see about their own accounts. */
export function myData(auth: DemoAuth): Router {
  const router = Router();
  router.get('/sign-in-methods', requireSession(auth, { accept: ['cookie', 'bearer'] }), async (req, res) => {
    const { id } = currentUser(req);
    const accounts = await auth.oauth.accounts(id);
    // Counts rows, so that the password hash itself is never loaded.
    const withPassword = await auth.models.User.count({ where: { id, passwordHash: { [Op.ne]: null } } });
    res.set('Cache-Control', 'no-store').json({
      password: withPassword > 0,
      providers: accounts.map(({ provider }) => provider),
    });
  });
  // Someone who finds an unlocked browser must not be able to download everything, so this needs a fresh sign-in.
  router.get('/my-data', requireSession(auth, { freshWithin: FRESH_SECONDS }), async (req, res) => {
    const user = currentUser(req);
    const [sessions, linkedAccounts, apiKeys, { events }] = await Promise.all([
      auth.listSessions(user.id),
      auth.oauth.accounts(user.id),
      auth.apiKeys.list(user.id),
      auth.auditLog.listEvents({ userId: user.id, limit: 200 }),
    ]);
    res.set('Cache-Control', 'no-store').json({ user, sessions, linkedAccounts, apiKeys, events });
  });
  return router;
}
