// Another process on the same database. It runs with tsx, gets its task as arguments, and prints the result
// as JSON. Its clock is wrong by SPEC_CLOCK_AHEAD_MS.
import { apiKeys, createAuth, credentialPassword, oauth } from '../../lib/index.js';
import { github } from '../../lib/providers.js';

const [action, database = '', ...values] = process.argv.slice(2);
const aheadMs = Number(process.env.SPEC_CLOCK_AHEAD_MS ?? 0);
if (aheadMs !== 0) {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...args: [] | [number]) {
      if (args.length === 0) super(RealDate.now() + aheadMs);
      else super(...args);
    }
    static override now() {
      return RealDate.now() + aheadMs;
    }
  } as DateConstructor;
}
const auth = createAuth({
  database,
  secret: 'a secret for specs, of 32 bytes and more',
  baseUrl: 'http://127.0.0.1:3000',
  rateLimit: action === 'limited' ? {} : false,
  email: { send: async () => undefined },
  plugins: [
    credentialPassword({ bcryptCost: 4 }),
    apiKeys(),
    oauth(),
    github({ clientId: 'a', clientSecret: 'b' }),
  ],
});

const actions: Record<string, (...values: string[]) => Promise<unknown>> = {
  migrate: () => auth.migrate(),
  getSession: (token) => auth.getSession({ headers: { cookie: `latchkey=${token}` } }),
  signIn: (credential = '', password = '') => auth.credential.signIn({ credential, password }),
  limited: (credential = '') =>
    auth.credential
      .signIn({ credential, password: 'a wrong password', ip: '192.0.2.1' })
      .catch((error) => error.code),
  signUp: (email = '', password = '') => auth.credential.signUp({ email, password }),
  requestReset: (email = '') => auth.credential.requestPasswordReset({ email }),
  createApiKey: (userId = '', expiresAt = '') =>
    auth.apiKeys.create(userId, { name: 'a program', expiresAt: new Date(expiresAt) }),
  authorize: () => auth.oauth.authorizeUrl('github'),
  prune: () => auth.prune(),
};

const answer = await actions[action ?? '']?.(...values);
await auth.close();
console.log(JSON.stringify(answer ?? null));
