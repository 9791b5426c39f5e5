// latchkey's guard in front of the page, and a page that collects garbage and says what is left on the heap.
import { requireSession } from 'latchkey';
import { newApp, serve } from '../support/serve.mjs';
import { latchkeyAuth } from './latchkey-auth.mjs';
import { page } from './page.mjs';

const auth = latchkeyAuth(process.env.BENCH_URL);
const app = newApp();
app.get('/me', requireSession(auth), (req, res) => {
  const { user, session } = req.auth;
  res.json(page(user, session));
});
app.get('/heap', (_req, res) => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  res.json({ heapMb: (heapUsed + external) / 2 ** 20 });
});
serve(app);
