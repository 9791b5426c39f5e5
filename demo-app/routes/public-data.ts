import { Router } from 'express';
import { keptMails } from '../mails.js';
import { providers } from '../providers.js';

/** What pages show to everybody. */
export function publicData(): Router {
  const router = Router();
  router.get('/providers', (_req, res) => {
    res.json({ providers: providers.map(({ name, plugin }) => ({ id: plugin.provider.id, name })) });
  });
  // Without a guard, since it stands for the mailboxes of all. See keepMail().
  router.get('/mails', (_req, res) => {
    res.set('Cache-Control', 'no-store').json({ mails: keptMails() });
  });
  return router;
}
