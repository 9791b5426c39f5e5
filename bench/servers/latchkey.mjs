// latchkey's guard in front of the page, and its router, as in an app. With BENCH_MEMBER, the guard for members.
import { authRouter, requireMember, requireSession } from 'latchkey';
import { ORGANIZATION } from '../support/people.mjs';
import { newApp, serve } from '../support/serve.mjs';
import { latchkeyAuth } from './latchkey-auth.mjs';
import { page } from './page.mjs';

const auth = latchkeyAuth(process.env.BENCH_URL);
const app = newApp();
app.use('/auth', authRouter(auth));
const guard = process.env.BENCH_MEMBER
  ? requireMember(auth, { organization: () => ORGANIZATION.slug })
  : requireSession(auth);
app.get('/me', guard, (req, res) => {
  const { user, session, apiKey } = req.auth;
  // An API key is no session, and has other columns, of about the same length.
  res.json(page(user, session ?? { ...apiKey, ipAddress: apiKey.start, userAgent: apiKey.name }));
});
serve(app);
