// express-session with passport. The sessions are in the database, or in Redis if BENCH_REDIS is set; the users in the
// database.
import { RedisStore } from 'connect-redis';
import session from 'express-session';
import passport from 'passport';
import { createClient } from 'redis';
import { SECRET } from '../support/people.mjs';
import { newApp, serve } from '../support/serve.mjs';
import { expressSessionModels } from './express-session-models.mjs';
import { page } from './page.mjs';

const models = expressSessionModels(process.env.BENCH_URL);
const { User } = models;

passport.serializeUser((user, done) => done(null, user.id));
passport.deserializeUser((id, done) => {
  User.findByPk(id).then((user) => done(null, user ?? false), done);
});

const app = newApp();
app.use(
  session({
    secret: SECRET,
    store: process.env.BENCH_REDIS ? await redisStore() : models.store,
    resave: false,
    saveUninitialized: false,
    cookie: { maxAge: 604_800_000 },
  }),
);
app.use(passport.initialize());
app.use(passport.session());
app.get('/me', (req, res) => {
  if (!req.isAuthenticated()) return res.status(401).end();
  const { user } = req;
  const { shown, cookie } = req.session;
  res.json(
    page(
      {
        id: user.id,
        email: user.email,
        emailVerified: user.emailVerifiedAt !== null,
        createdAt: user.createdAt,
        updatedAt: user.updatedAt,
      },
      { ...shown, userId: user.id, expiresAt: cookie.expires },
    ),
  );
});
serve(app);

async function redisStore() {
  models.store.stopExpiringSessions();
  const client = createClient({ url: process.env.BENCH_REDIS });
  await client.connect();
  return new RedisStore({ client });
}
