// Auth.js for Express, with sessions in the database.
import GitHub from '@auth/core/providers/github';
import { ExpressAuth, getSession } from '@auth/express';
import { SECRET } from '../support/people.mjs';
import { newApp, serve } from '../support/serve.mjs';
import { authJs } from './auth-js-models.mjs';
import { page } from './page.mjs';

const { adapter } = authJs(process.env.BENCH_URL);
const config = {
  adapter,
  secret: SECRET,
  trustHost: true,
  session: { strategy: 'database' },
  providers: [GitHub({ clientId: 'bench', clientSecret: 'bench' })],
  callbacks: {
    session: ({ session, user }) =>
      page(
        { ...user, emailVerified: user.emailVerified !== null },
        { ...session, expiresAt: session.expires },
      ),
  },
};
const app = newApp();
app.use('/auth/*splat', ExpressAuth(config));
app.get('/me', async (req, res) => {
  const session = await getSession(req, config);
  if (!session) return res.status(401).end();
  res.json(session);
});
serve(app);
