import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler } from 'express';
import { AuthError, authRouter, currentUser, requireSession } from 'latchkey';
import { folder } from './database.js';
import { auth } from './latchkey.config.js';

const { addProject, close, joinWithProject, projectsOf }: typeof import('./postgres/projects.js') =
  await import(`./${folder}/projects.js`);

const app = express();
app.use('/auth', authRouter(auth));
app.use(express.json());

app.get('/projects', requireSession(auth), async (req, res) => {
  res.json(await projectsOf(currentUser(req).id));
});

app.post('/projects', requireSession(auth), async (req, res) => {
  await addProject(currentUser(req).id, String(req.body.title));
  res.sendStatus(201);
});

// An account and a project in one transaction: both are stored, or neither.
app.post('/join', async (req, res) => {
  const { email, password, title } = req.body;
  const id = await joinWithProject(title, async (connection) => {
    const signedUp = await auth.credential.signUp({
      email,
      password,
      request: req,
      transaction: { connection },
    });
    return String(signedUp?.user.id);
  });
  res.status(201).json({ id });
});

const answerAuthError: ErrorRequestHandler = (error, _req, res, next) => {
  if (!(error instanceof AuthError)) return next(error);
  res.status(error.status).json({ code: error.code, detail: error.message });
};
app.use(answerAuthError);

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(`Listening on http://localhost:${(server.address() as AddressInfo).port}`);
});

process.once('SIGTERM', () => {
  server.close(async () => {
    await auth.close();
    await close();
  });
});
