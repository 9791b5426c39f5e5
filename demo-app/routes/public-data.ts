import { Router } from 'express';
import { keptMails } from '../mails.js';
import { providers } from '../providers.js';

/** Data that pages show to everyone. */
export function publicData(): Router {
  const router = Router();
  router.get('/providers', (_req, res) => {
    res.json({ providers: providers.map(({ name, plugin }) => ({ id: plugin.provider.id, name })) });
  });
  // Has no guard, because it takes the place of everyone's mailbox. See keepMail().
  router.get('/mails', (_req, res) => {
    res.set('Cache-Control', 'no-store').json({ mails: keptMails() });
  });
  return router;
}
