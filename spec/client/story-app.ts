import type { AddressInfo } from 'node:net';
import express from 'express';
import { TOTP } from 'otpauth';
import { altcha } from '../../lib/human-check.js';
import { type AuthConfig, authRouter, createAuth, type MailMessage, type Plugin } from '../../lib/index.js';
import { listen } from '../pages/browser/provider.js';
import { memoryLogger, SECRET } from '../support/app.js';
import { createDatabase } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';

/** Who can administer the app: each story has a user of its own. */
export const ADMINISTRATORS = ['ada@example.com', 'grace@example.com', 'edith@example.com'];

/** Starts an app with every plugin, for clients in this process and in a browser. */
export async function startStoryApp(config: Partial<AuthConfig<readonly Plugin[]>> = {}) {
  const app = express();
  // Passkeys need a host name.
  const server = await listen('localhost', app);
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const database = await createDatabase();
  const mails: MailMessage[] = [];
  const waiting = new Set<() => void>();
  /** The last email of this kind to an address, once one has come. */
  const mailed = (kind: string, to: string) =>
    new Promise<MailMessage>((resolve) => {
      const look = () => {
        const mail = mails.findLast((one) => one.kind === kind && one.to === to);
        if (!mail) return;
        waiting.delete(look);
        resolve(mail);
      };
      waiting.add(look);
      look();
    });
  const auth = createAuth({
    database: database.url,
    secret: SECRET,
    baseUrl: origin,
    logger: memoryLogger(),
    rateLimit: false,
    bearerEnabled: true,
    email: {
      send(mail) {
        mails.push(mail);
        for (const look of waiting) look();
      },
    },
    humanCheck: altcha({
      cost: 100,
      routes: ['signup/credential', 'signin/email', 'passwords/request-reset'],
    }),
    user: { fields: { plan: { type: 'string', enum: ['free', 'pro'] } } },
    ...config,
    plugins: [
      ...everyPlugin({
        sendsEmails: true,
        password: { verifyEmailBy: 'password', unknownBrowser: 'notify' },
        admin: { adminEmails: ADMINISTRATORS },
      }),
      fixedProvider(),
    ],
  });
  await auth.migrate();
  app.use('/auth', authRouter(auth));
  app.get('/', (_req, res) => void res.send('<!doctype html><title>App</title>'));
  app.get('/mailed/:kind/:to', async (req, res) => {
    const { code, token } = await mailed(req.params.kind, req.params.to);
    res.json(code || token);
  });
  app.get('/totp/:secret', (req, res) => void res.json(new TOTP({ secret: req.params.secret }).generate()));
  return {
    auth,
    app,
    origin,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await auth.close();
      await database.drop();
    },
  };
}
