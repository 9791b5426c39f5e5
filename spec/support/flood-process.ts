// A process of an app in which many people sign up, or that delivers what waits. It gets its task as JSON.
import { createAuth, credentialPassword } from '../../lib/index.js';
import { memoryLogger, SECRET } from './app.js';
import { allSent } from './mail-app.js';
import { smtpEmail } from './smtp.js';

const AT_ONCE = 4;

interface Task {
  readonly url: string;
  /** The port of the mail server. */
  readonly port: number;
  readonly limit: number;
  /** The names of the people who sign up. Without names, the process delivers. */
  readonly names: readonly string[];
  readonly store?: string;
}

const { url, port, limit, names, store } = JSON.parse(process.argv[2] ?? '') as Task;
const logger = memoryLogger();
const auth = createAuth({
  database: url,
  secret: SECRET,
  logger,
  rateLimit: { ...(store && { store }), mail: false, strangers: { limit, window: 3600 } },
  baseUrl: 'http://app.example.com',
  email: smtpEmail(port),
  outbox: { interval: false },
  plugins: [credentialPassword({ bcryptCost: 4, sendVerificationOnSignUp: true })],
});

process.once('message', async () => {
  // A busy machine must not answer with 503.
  for (let start = 0; start < names.length; start += AT_ONCE)
    await Promise.all(
      names
        .slice(start, start + AT_ONCE)
        .map((name) =>
          auth.credential.signUp({ email: `${name}@example.com`, password: 'an analytical engine' }),
        ),
    );
  await allSent(auth);
  if (names.length === 0) await auth.outbox.deliver();
  await auth.close();
  process.send?.(logger.lines, () => process.disconnect());
});
await auth.listSessions('01900000-0000-7000-8000-000000000000');
process.send?.('ready');
