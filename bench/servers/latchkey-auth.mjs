import { apiKeys, createAuth, credentialPassword } from 'latchkey';
import { sqlite } from 'latchkey/sqlite';
import { Sequelize } from 'sequelize';
import { SECRET } from '../support/people.mjs';

/** latchkey with its defaults, bearer tokens and API keys. With BENCH_INSTANCE, on a Sequelize instance of the app. */
export function latchkeyAuth(url) {
  return createAuth({
    database: process.env.BENCH_INSTANCE ? instanceFor(url) : url,
    secret: SECRET,
    baseUrl: 'https://bench.example.test',
    bearerEnabled: true,
    plugins: [credentialPassword(), apiKeys()],
  });
}

function instanceFor(url) {
  const options = { logging: false, pool: { max: 10 } };
  return url.startsWith('sqlite:')
    ? new Sequelize({ ...sqlite(url.slice('sqlite:'.length)), ...options })
    : new Sequelize(url, options);
}
