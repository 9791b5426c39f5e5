import express from 'express';
import { authRouter } from 'latchkey';
import { api } from './api.js';
import { auth } from './auth.js';
import { site } from './site.js';

export const app = express();
app.use(authRouter(auth)); // its routes and pages are below /auth
app.use('/api', express.json(), api);
app.use(site);
