// latchkey's guard in front of the page, and its router, as in an app.
import { authRouter, requireSession } from 'latchkey';
import { newApp, serve } from '../support/serve.mjs';
import { latchkeyAuth } from './latchkey-auth.mjs';
import { page } from './page.mjs';

const auth = latchkeyAuth(process.env.BENCH_URL);
const app = newApp();
app.use('/auth', authRouter(auth));
app.get('/me', requireSession(auth), (req, res) => {
  const { user, session, apiKey } = req.auth;
  // An API key is no session, and has other columns, of about the same length.
  res.json(page(user, session ?? { ...apiKey, ipAddress: apiKey.start, userAgent: apiKey.name }));
});
serve(app);
