// A process of an app that sends emails. It gets its task as JSON: `{ url, port, action }`.
import { createAuth, credentialPassword } from '../../lib/index.js';
import { smtpEmail } from './smtp.js';

interface Task {
  readonly url: string;
  /** Of the mail server. */
  readonly port: number;
  readonly action: 'deliver' | 'set-password-and-hang';
  readonly userId?: string;
}

const { url, port, action, userId = '' } = JSON.parse(process.argv[2] ?? '') as Task;
const hang = () => {
  process.send?.('about to send');
  return new Promise(() => {});
};
const auth = createAuth({
  database: url,
  secret: 'a secret for specs, of 32 bytes and more',
  rateLimit: false,
  baseUrl: 'http://app.example.com',
  email: action === 'deliver' ? smtpEmail(port) : { send: hang },
  plugins: [credentialPassword({ bcryptCost: 4 })],
});
await auth.listSessions('00000000-0000-7000-8000-000000000000');
process.send?.('ready');
process.once('message', async () => {
  if (action === 'set-password-and-hang') return auth.users.setPassword(userId, 'a difference engine');
  const { sent } = await auth.outbox.deliver();
  process.send?.(sent);
  await auth.close();
  process.disconnect?.();
});
