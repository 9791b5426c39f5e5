// latchkey's sign-in by password, its guard, and a page that measures what else needs libuv's threads.
import bcrypt from 'bcrypt';
import { authRouter, createAuth, credentialPassword, requireSession } from 'latchkey';
import { SECRET } from '../support/people.mjs';
import { newApp, serve } from '../support/serve.mjs';
import { probe } from './probe.mjs';

const { BENCH_URL, BENCH_HASH, BENCH_LIMITS } = process.env;
// The object whose functions latchkey calls.
if (BENCH_HASH === 'none') bcrypt.compare = async () => true;

const auth = createAuth({
  database: BENCH_URL,
  secret: SECRET,
  baseUrl: 'https://bench.example.test',
  ...(BENCH_LIMITS !== 'on' && { rateLimit: false }),
  plugins: [credentialPassword()],
});
const app = newApp();
// Each sign-in of the load comes from an address of its own.
if (BENCH_LIMITS === 'on') app.set('trust proxy', true);
app.use('/auth', authRouter(auth));
app.get('/me', requireSession(auth), (req, res) => void res.json({ user: req.auth.user }));
app.get('/probe', probe);
serve(app);
