import { apiKeys, createAuth, credentialPassword } from 'latchkey';
import { SECRET } from '../support/people.mjs';

/** latchkey with its defaults, bearer tokens and API keys. */
export function latchkeyAuth(url) {
  return createAuth({
    database: url,
    secret: SECRET,
    baseUrl: 'https://bench.example.test',
    bearerEnabled: true,
    plugins: [credentialPassword(), apiKeys()],
  });
}
