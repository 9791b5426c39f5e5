// Express alone: the same JSON for everybody, without a guard.
import { newApp, serve } from '../support/serve.mjs';
import { constant } from './constant.mjs';

const app = newApp();
app.get('/me', (_req, res) => {
  res.json(constant);
});
serve(app);
