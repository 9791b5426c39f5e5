// The app that is fuzzed, in a process of its own: nothing that a request does may end it, or print anything. It gets a
// message for each new set of credentials, and sends a message when it is ready, and for each error that the app's error
// handler gets.
import { randomBytes } from 'node:crypto';
import type { ErrorRequestHandler, Express } from 'express';
import { type AuthWith, authRouter, optionalSession, requireSession } from '../../lib/index.js';
import { rows } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { setLimits } from '../support/limits.js';
import { type OAuthApp, startOAuthApp } from '../support/oauth-app.js';
import type { Credentials } from './world.js';

const NONE = { debug() {}, info() {}, warn() {}, error() {} };
const WITHOUT_LIMIT = { limit: 1e9, window: 60 };
const ROOT = 'root@example.com';

const plugins = [
  ...everyPlugin({
    password: { usernamePattern: /[\p{L}\p{M}\d ._-]{2,40}/u },
    admin: { adminEmails: [ROOT] },
  }),
  fixedProvider(),
] as const;

/** The errors of the app go to the other process, and get a bare answer, as in production. */
const tell: ErrorRequestHandler = (error, _req, res, _next) => {
  process.send?.({ error: String(error?.stack ?? error) });
  res.status(500).json({ error: 'it is told' });
};

const app = (await startOAuthApp({
  host: 'localhost',
  providers: () => [],
  config: {
    plugins,
    bearerEnabled: true,
    trustedOrigins: ['https://trusted.example'],
    logger: NONE,
    email: { send: () => undefined },
    // All of them count, and none refuses.
    rateLimit: { signIn: WITHOUT_LIMIT, signUp: WITHOUT_LIMIT, mail: WITHOUT_LIMIT },
    user: {
      fields: {
        nickName: { type: 'string', maxLength: 30, pattern: /^[^<>]*$/u },
        age: { type: 'integer', minimum: 0 },
        score: { type: 'number' },
        newsletter: { type: 'boolean' },
        bornAt: { type: 'date' },
        settings: { type: 'json' },
      },
    },
  } as never,
  mount(server: Express, auth) {
    // X-Forwarded-For is read, whatever it contains.
    server.set('trust proxy', true);
    server.use('/auth', authRouter(auth));
    server.all('/guarded', requireSession(auth), (_req, res) => void res.json({ ok: true }));
    server.all('/optional', optionalSession(auth), (_req, res) => void res.json({ ok: true }));
    server.use(tell);
  },
})) as never as OAuthApp & { readonly auth: AuthWith<typeof plugins> };

setLimits(app.auth, {
  passwordCheck: WITHOUT_LIMIT,
  passwordChange: WITHOUT_LIMIT,
  passkeyOptions: WITHOUT_LIMIT,
  providerLink: WITHOUT_LIMIT,
  recoveryCodes: WITHOUT_LIMIT,
});

let last: string | undefined;

/** A new user with everything that a request can carry, in place of the last one. */
async function newCredentials(): Promise<Credentials> {
  if (last !== undefined) await app.auth.users.delete(last).catch(() => undefined);
  for (const table of ['audit_events', 'rate_limits']) await rows(app.database, `DELETE FROM ${table}`);
  await rows(app.database, 'DELETE FROM users WHERE email <> :email OR email IS NULL', { email: ROOT });
  // An administrator can close their own account.
  const root =
    (await app.auth.users.find({ email: ROOT })) ??
    (await app.auth.users.create({ email: ROOT, emailVerified: true }));
  const name = `u${randomBytes(6).toString('hex')}`;
  const email = `${name}@example.com`;
  const user = await app.auth.users.create({ email, emailVerified: true, username: name });
  last = user.id;
  const [own, other, roots] = [await session(user.id), await session(user.id), await session(root.id)];
  const { key, apiKey } = await app.auth.apiKeys.create(user.id, { name: 'a key' });
  return {
    email,
    username: name,
    token: own.token,
    rootToken: roots.token,
    apiKey: key,
    ids: [user.id, root.id, other.session.id, apiKey.id],
  };
}

async function session(userId: string) {
  const issued = await app.auth.createSession(userId);
  if (!('token' in issued)) throw new Error('a second factor is demanded');
  return issued;
}

process.on('message', () => {
  newCredentials().then(
    (credentials) => process.send?.({ credentials, memory: process.memoryUsage.rss() }),
    (error) => process.send?.({ error: `no credentials: ${error.stack}` }),
  );
});
process.on('disconnect', () => void app.stop().then(() => process.exit(0)));
process.send?.({ origin: app.origin });
