// Another process on the same database. It gets its task as arguments, and prints the result as JSON.
import { createAuth, credentialPassword, passkeys } from '../../lib/index.js';

const [action, database = '', ...values] = process.argv.slice(2);
const auth = createAuth({
  database,
  secret: 'a secret for specs, of 32 bytes and more',
  rateLimit: false,
  plugins: [credentialPassword({ bcryptCost: 4 })],
});

const actions: Record<string, (...values: string[]) => Promise<unknown>> = {
  migrate: () => auth.migrate(),
  getSession: (token) => auth.getSession({ headers: { cookie: `latchkey=${token}` } }),
  signIn: (credential = '', password = '') => auth.credential.signIn({ credential, password }),
  prune: () => auth.prune(),
  health: () => auth.health(),
  async passkeyOptions() {
    const secret = 'a secret for specs, of 32 bytes and more';
    const own = createAuth({ database, secret, baseUrl: 'http://localhost', plugins: [passkeys()] });
    await own.migrate();
    const refused = await own.passkeys.signInOptions().catch((error) => String(error));
    await own.close();
    return refused;
  },
  async telemetry() {
    const secret = 'a secret for specs, of 32 bytes and more';
    const lines: string[] = [];
    const write = (text: string, error: unknown) => void lines.push(`${text} ${error}`);
    const logger = { debug: write, info: write, warn: write, error: write };
    const own = createAuth({ database, secret, telemetry: true, logger });
    const refused = await own.migrate().catch((error) => String(error));
    await own.close();
    return { refused, lines };
  },
  /** Starts with a function that hashes passwords, which can be missing. */
  async hashing(hash) {
    const secret = 'a secret for specs, of 32 bytes and more';
    const lines: string[] = [];
    const write = (text: string, error: unknown) => void lines.push(`${text} ${error}`);
    const logger = { debug: write, info: write, warn: write, error: write };
    await auth.migrate();
    const plugins = [credentialPassword({ hash: hash as 'bcrypt' | 'argon2id' })];
    const own = createAuth({ database, secret, logger, plugins });
    const refused = await own.migrate().then(
      () => null,
      (error) => String(error),
    );
    const { ready, degraded } = await own.health();
    await own.close();
    return { refused, lines, ready, degraded };
  },
};

const answer = await actions[action ?? '']?.(...values);
await auth.close();
console.log(JSON.stringify(answer));
