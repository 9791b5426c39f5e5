// better-auth's sign-in by password with its own hash (scrypt) or without one, its session in front of a page, and a page
// that measures what else needs libuv's threads. Without its rate limit, as latchkey beside it.
import { betterAuth } from 'better-auth';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { newApp, serve } from '../support/serve.mjs';
import { betterAuthOptions } from './better-auth-options.mjs';
import { probe } from './probe.mjs';

const { options } = betterAuthOptions(process.env.BENCH_URL, 'plain');
const password = { hash: async () => 'none', verify: async () => true };
const auth = betterAuth({
  ...options,
  rateLimit: { enabled: false },
  emailAndPassword: { enabled: true, ...(process.env.BENCH_HASH === 'none' && { password }) },
});
const app = newApp();
app.all('/api/auth/{*any}', toNodeHandler(auth));
app.get('/me', async (req, res) => {
  const found = await auth.api.getSession({ headers: fromNodeHeaders(req.headers) });
  if (!found) return res.status(401).end();
  res.json({ user: found.user });
});
app.get('/probe', probe);
serve(app);
