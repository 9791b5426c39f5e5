// Writes the rows that the specs of latchkey/moving-in read, as better-auth and Auth.js themselves make them:
//
//   npm ci --prefix bench && node bench/importer-rows.mjs postgres://postgres@127.0.0.1:5432
//
// It makes a database for each, and drops it.
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import SequelizeAdapter from '@auth/sequelize-adapter';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { admin, twoFactor, username } from 'better-auth/plugins';
import pg from 'pg';
import { Sequelize } from 'sequelize';

const server = process.argv[2] ?? 'postgres://postgres@127.0.0.1:5432';
const folder = new URL('../spec/importers/', import.meta.url);
const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

const PASSWORD = 'correct horse battery';
const SECRETS = [
  'the first secret of better-auth, of 32 bytes',
  'the second secret of better-auth, of 32 bytes',
];

await inDatabase('latchkey_importer_rows', async (url) => {
  const pool = new pg.Pool({ connectionString: url });
  const options = (more) => ({
    database: pool,
    baseURL: 'http://localhost:3000',
    emailAndPassword: { enabled: true },
    plugins: [username(), admin(), twoFactor()],
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    logger: { disabled: true },
    ...more,
  });
  const early = options({ secret: SECRETS[0] });
  const { runMigrations, compileMigrations } = await getMigrations(early);
  const schema = await compileMigrations();
  await runMigrations();
  const auth = betterAuth(early);
  // After its secret was changed, with the earlier one kept for what it has encrypted.
  const rotated = betterAuth(
    options({
      secrets: [
        { version: 2, value: SECRETS[1] },
        { version: 1, value: SECRETS[0] },
      ],
    }),
  );
  const ada = await signUp(auth, 'ada', { username: 'Ada_Lovelace' });
  const { internalAdapter } = await auth.$context;
  await internalAdapter.updateUser(ada.user.id, { emailVerified: true });
  const adas = await withTotp(auth, ada);
  await auth.api.verifyBackupCode({ body: { code: adas.backupCodes[0] }, headers: adas.headers });
  const grace = await signUp(auth, 'grace');
  // She has not shown a code, so it is not on.
  await auth.api.enableTwoFactor({ body: { password: PASSWORD }, headers: grace.headers });
  const { user: joan } = await internalAdapter.createOAuthUser(
    { email: 'Joan@example.com', name: 'Joan', emailVerified: true },
    { providerId: 'github', accountId: '583231', accessToken: 'token', scope: 'read:user' },
  );
  await internalAdapter.linkAccount({
    userId: joan.id,
    providerId: 'google',
    accountId: '117800000000000000042',
  });
  const eve = await signUp(auth, 'eve');
  await internalAdapter.updateUser(eve.user.id, { banned: true, banReason: 'spam' });
  const late = await withTotp(rotated, await signUp(rotated, 'hedy'));
  const read = async (table) => (await pool.query(`SELECT * FROM "${table}" ORDER BY "id"`)).rows;
  write('better-auth.json', {
    madeBy: `better-auth ${dependencies['better-auth']}, with bench/importer-rows.mjs`,
    schema,
    password: PASSWORD,
    secrets: SECRETS,
    backupCodes: { ada: adas.backupCodes, hedy: late.backupCodes },
    totpUris: { ada: adas.totpURI, hedy: late.totpURI },
    tables: { user: await read('user'), account: await read('account'), twoFactor: await read('twoFactor') },
  });
  await pool.end();
});

await inDatabase('latchkey_importer_rows', async (url) => {
  const statements = [];
  const sequelize = new Sequelize(url, {
    logging: (sql) => statements.push(sql.replace(/^Executing \(\w+\): /, '')),
  });
  const adapter = SequelizeAdapter(sequelize, { synchronize: false });
  await sequelize.sync();
  const ada = await adapter.createUser({
    name: 'Ada',
    email: 'ada@example.com',
    emailVerified: new Date('2024-05-06'),
  });
  const joan = await adapter.createUser({ name: 'Joan', email: 'Joan@example.com', emailVerified: null });
  const link = (userId, provider, providerAccountId) =>
    adapter.linkAccount({ userId, type: 'oauth', provider, providerAccountId, access_token: 'token' });
  await link(joan.id, 'github', '583231');
  await link(joan.id, 'twitter', '12');
  await link(ada.id, 'azure-ad', 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ');
  const schema = statements.filter((sql) => sql.startsWith('CREATE TABLE')).join(';\n');
  const read = async (table) => (await sequelize.query(`SELECT * FROM "${table}" ORDER BY "id"`))[0];
  write('auth-js.json', {
    madeBy: `@auth/sequelize-adapter ${dependencies['@auth/sequelize-adapter']}, with bench/importer-rows.mjs`,
    schema,
    tables: { users: await read('users'), accounts: await read('accounts') },
  });
  await sequelize.close();
});

async function signUp(auth, name, more = {}) {
  const { headers, response } = await auth.api.signUpEmail({
    body: { email: `${name}@example.com`, password: PASSWORD, name, ...more },
    returnHeaders: true,
  });
  return { user: response.user, headers: withCookies(headers) };
}

async function withTotp(auth, { headers }) {
  const { totpURI, backupCodes } = await auth.api.enableTwoFactor({ body: { password: PASSWORD }, headers });
  const secret = new URL(totpURI).searchParams.get('secret');
  const answer = await auth.api.verifyTOTP({ body: { code: codeOf(secret) }, headers, returnHeaders: true });
  return { totpURI, backupCodes, headers: withCookies(answer.headers) };
}

function withCookies(headers) {
  const cookies = headers.getSetCookie().map((line) => line.split(';')[0]);
  return new Headers({ cookie: cookies.join('; ') });
}

/** RFC 6238, with the code of now. */
function codeOf(secret) {
  const bits = [...secret].map((one) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'),
  );
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac('sha1', Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))))
    .update(step)
    .digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

async function inDatabase(name, work) {
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  try {
    await work(`${server}/${name}`);
  } finally {
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.end();
  }
}

function write(name, content) {
  writeFileSync(new URL(name, folder), `${JSON.stringify(content, null, 2)}\n`);
}
