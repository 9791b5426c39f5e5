import { Router } from 'express';
import { currentUser, requireSession } from 'latchkey';
import { Op } from 'sequelize';
import type { DemoAuth } from '../auth.js';

const FRESH_SECONDS = 60;

/** What users may know of their own accounts. */
export function myData(auth: DemoAuth): Router {
  const router = Router();
  router.get('/sign-in-methods', requireSession(auth, { accept: ['cookie', 'bearer'] }), async (req, res) => {
    const { id } = currentUser(req);
    const accounts = await auth.oauth.accounts(id);
    // Counted, so that the hash itself never comes here.
    const withPassword = await auth.models.User.count({ where: { id, passwordHash: { [Op.ne]: null } } });
    res.set('Cache-Control', 'no-store').json({
      password: withPassword > 0,
      providers: accounts.map(({ provider }) => provider),
    });
  });
  // All of it at once is what a thief at an open browser would like best: it takes a fresh sign-in.
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
