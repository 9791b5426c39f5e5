// better-auth in front of the page, and its routes, as its documentation for Express shows.
import { betterAuth } from 'better-auth';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { newApp, serve } from '../support/serve.mjs';
import { betterAuthOptions } from './better-auth-options.mjs';
import { page } from './page.mjs';

const auth = betterAuth(betterAuthOptions(process.env.BENCH_URL, process.env.BENCH_MODE).options);
const app = newApp();
app.all('/api/auth/{*any}', toNodeHandler(auth));
app.get('/me', async (req, res) => {
  const found = await auth.api.getSession({ headers: fromNodeHeaders(req.headers) });
  if (!found) return res.status(401).end();
  res.json(page(found.user, found.session));
});
serve(app);
