// A process of an app that sends emails and webhooks. It gets its task as JSON: `{ url, port, action }`.
import { internalsOf } from '../../lib/auth.js';
import { createAuth, credentialPassword } from '../../lib/index.js';
import { atStatements } from './at-statements.mjs';
import { smtpEmail } from './smtp.js';
import { holdTimers } from './timers.js';

interface Task {
  readonly url: string;
  /** The port of the mail server. */
  readonly port: number;
  readonly action: 'deliver' | 'set-password-and-hang' | 'set-password-and-die' | 'set-password-and-close';
  readonly userId?: string;
  /** The process kills itself right after a statement that starts with this. */
  readonly last?: string;
}

const { url, port, action, userId = '', last = '' } = JSON.parse(process.argv[2] ?? '') as Task;
const hang = () => {
  process.send?.('about to send');
  return new Promise(() => {});
};
const auth = createAuth({
  database: url,
  secret: 'a secret for specs, of 32 bytes and more',
  rateLimit: false,
  baseUrl: 'http://app.example.com',
  email: action === 'deliver' || action === 'set-password-and-close' ? smtpEmail(port) : { send: hang },
  plugins: [credentialPassword({ bcryptCost: 4 })],
  // No server is needed, because the process dies before it sends anything.
  ...(last && {
    webhooks: [
      {
        url: 'http://127.0.0.1:9/hooks',
        secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
        events: ['password.changed'],
      },
    ],
  }),
});
let isArmed = false;
if (action === 'set-password-and-die') dieAfter(last);
await auth.listSessions('00000000-0000-7000-8000-000000000000');
process.send?.('ready');
process.once('message', async () => {
  isArmed = true;
  if (action === 'set-password-and-close') {
    // On the next message, auth.close() has waited for long enough.
    const timers = holdTimers(7000);
    process.once('message', () => timers.expire());
    await auth.users.setPassword(userId, 'a difference engine');
    await auth.close();
    process.send?.('closed');
    process.disconnect?.();
    return;
  }
  if (action !== 'deliver') return auth.users.setPassword(userId, 'a difference engine');
  const { sent } = await auth.outbox.deliver();
  process.send?.(sent);
  await auth.close();
  process.disconnect?.();
});

function dieAfter(statement: string): void {
  atStatements(internalsOf(auth).core.database.sequelize, (sql) => () => {
    if (isArmed && sql.startsWith(statement)) process.kill(process.pid, 'SIGKILL');
  });
}
