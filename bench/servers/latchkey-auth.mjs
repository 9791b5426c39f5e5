import { apiKeys, createAuth, credentialPassword, organizations } from 'latchkey';
import { sqlite } from 'latchkey/sqlite';
import { Sequelize } from 'sequelize';
import { SECRET } from '../support/people.mjs';

/**
 * latchkey with its defaults, bearer tokens and API keys. With BENCH_INSTANCE, on a Sequelize instance of the app. With
 * BENCH_MEMBER, or for the migration, with organizations.
 */
export function latchkeyAuth(url, hasOrganizations = process.env.BENCH_MEMBER !== undefined) {
  return createAuth({
    database: process.env.BENCH_INSTANCE ? instanceFor(url) : url,
    secret: SECRET,
    baseUrl: 'https://bench.example.test',
    bearerEnabled: true,
    plugins: [credentialPassword(), apiKeys(), ...(hasOrganizations ? [organizations()] : [])],
  });
}

function instanceFor(url) {
  const options = { logging: false, pool: { max: 10 } };
  return url.startsWith('sqlite:')
    ? new Sequelize({ ...sqlite(url.slice('sqlite:'.length)), ...options })
    : new Sequelize(url, options);
}
