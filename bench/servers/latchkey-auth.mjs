import { apiKeys, createAuth, credentialPassword } from 'latchkey';
import { Sequelize } from 'sequelize';
import { SECRET } from '../support/people.mjs';

/** latchkey with its defaults, bearer tokens and API keys. With BENCH_INSTANCE, on a Sequelize instance of the app. */
export function latchkeyAuth(url) {
  return createAuth({
    database: process.env.BENCH_INSTANCE ? new Sequelize(url, { logging: false, pool: { max: 10 } }) : url,
    secret: SECRET,
    baseUrl: 'https://bench.example.test',
    bearerEnabled: true,
    plugins: [credentialPassword(), apiKeys()],
  });
}
