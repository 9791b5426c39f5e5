import express from 'express';
import { AuthError, authRouter, currentUser, requireSession } from 'latchkey';
import { knex } from './db.js';
import { auth } from './latchkey.config.js';

const app = express();
app.use('/auth', authRouter(auth));
app.use(express.json());

app.get('/projects', requireSession(auth), async (req, res) => {
  const projects = await knex('projects')
    .join('auth_users', 'auth_users.id', 'projects.owner_id')
    .where('projects.owner_id', currentUser(req).id)
    .orderBy('projects.id')
    .select('projects.title', 'auth_users.email as owner');
  res.json(projects);
});

// An account and a project in one transaction: both are stored, or neither.
app.post('/join', async (req, res) => {
  const { email, password, title } = req.body;
  const { user } = await knex.transaction(async (trx) => {
    const connection = await trx.client.acquireConnection();
    const signedUp = await auth.credential.signUp({
      email,
      password,
      request: req,
      transaction: { connection },
    });
    await trx('projects').insert({ owner_id: signedUp.user.id, title });
    return signedUp;
  });
  res.status(201).json({ id: user.id });
});

app.use((error, _req, res, next) => {
  if (!(error instanceof AuthError)) return next(error);
  res.status(error.status).json({ code: error.code, detail: error.message });
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(`Listening on http://localhost:${server.address().port}`);
});

process.once('SIGTERM', () => {
  server.close(async () => {
    await auth.close();
    await knex.destroy();
  });
});
