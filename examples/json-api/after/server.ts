import type { AddressInfo } from 'node:net';
import express from 'express';
import { authRouter } from 'latchkey';
import { admin } from './admin.js';
import { articles } from './articles.js';
import { auth } from './auth.js';
import { sequelize } from './models.js';
import { answerErrors } from './refuse.js';
import { users } from './users.js';

await auth.migrate();
await sequelize.sync();

const app = express();
app.use(express.static('public'));
app.use('/api', express.json(), users, articles);
app.use('/api/admin', express.json(), admin);
app.use('/auth', authRouter(auth)); // new: API keys, and a list of one's sessions
app.use(answerErrors);

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(`Listening on http://localhost:${(server.address() as AddressInfo).port}`);
});
