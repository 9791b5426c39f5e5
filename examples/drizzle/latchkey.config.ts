import { createAuth, credentialPassword } from 'latchkey';
import { url } from './database.js';

export const auth = createAuth({
  database: url,
  tablePrefix: 'auth_',
  secret: process.env.AUTH_SECRET,
  plugins: [credentialPassword()],
});
