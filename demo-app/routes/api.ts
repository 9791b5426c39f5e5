import { Router } from 'express';
import { currentUser, requireSession } from 'latchkey';
import type { DemoAuth } from '../auth.js';

const MAX_SIGN_INS = 100;

/** The app's own JSON routes, for browsers and for programs with a bearer token or an API key. Others get a 401. */
export function api(auth: DemoAuth): Router {
  const router = Router();
  router.get('/hello', requireSession(auth), (req, res) => {
    const { username, email } = currentUser(req);
    res.set('Cache-Control', 'no-store').json({ hello: username ?? email ?? 'stranger' });
  });
  // An API key needs the scope for this route. A session may do everything that its user may.
  router.get('/reports', requireSession(auth, { scopes: ['reports:read'] }), async (req, res) => {
    const { id: userId } = currentUser(req);
    const options = { userId, kind: 'session.created', limit: MAX_SIGN_INS };
    const { events } = await auth.auditLog.listEvents(options);
    const signIns = events.map(({ createdAt, ipAddress }) => ({ at: createdAt, ip_address: ipAddress }));
    res.set('Cache-Control', 'no-store').json({ sign_ins: signIns });
  });
  return router;
}
