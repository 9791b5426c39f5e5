import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { build } from 'esbuild';
import { createOnServer, createSqlite, type SpecDatabase } from './support/database.js';
import { Projects } from './support/projects.js';
import { IN_JAVASCRIPT, IN_TYPESCRIPT, NAMES, OUTCOME } from './support/round-trip.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  peerDependencies: Readonly<Record<string, string>>;
};

/** The lowest version that each range allows. */
const lowest = Object.entries(peerDependencies).map(([name, range]) => [
  name,
  /\d+\.\d+\.\d+/.exec(range)?.[0],
]);

/** The lowest version of TypeScript that the README names. */
const TYPESCRIPT = 'typescript@5.0.4';

/** Does a round trip, then signs in with a passkey, and with a hash of argon2 that was imported, and then replaced. */
const MAIN = `
  import express from 'express';
  import { ${NAMES}, passkeys } from 'latchkey';
  import { movingIn } from 'latchkey/moving-in';
  import { Authenticator } from './authenticator.mjs';
  const { DATABASE, REDIS, HASH } = process.env;
  const config = { database: DATABASE, rateLimit: REDIS ? { store: REDIS } : {} };
  ${IN_JAVASCRIPT}
  const baseUrl = 'http://localhost:3000';
  const plugins = [credentialPassword({ hash: 'argon2id' }), passkeys(), movingIn()];
  const other = createAuth({ ...config, baseUrl, secret: 'a secret for specs, of 32 bytes and more', plugins });
  await other.migrate();
  const { user, session } = await other.credential.signIn({ credential: email, password });
  const owner = { userId: user.id, sessionId: session.id };
  const device = new Authenticator({ origin: baseUrl });
  const created = await other.passkeys.registrationOptions(owner);
  const response = device.create(created.options);
  await other.passkeys.register({ ...owner, response });
  const { options, pendingToken } = await other.passkeys.signInOptions();
  const byPasskey = await other.passkeys.signIn({ response: device.get(options), pendingToken });
  const moved = 'moved@example.com';
  await other.movingIn.importUsers([{ email: moved, passwordHash: HASH }]);
  await other.credential.signIn({ credential: moved, password });
  const byHash = await other.credential.signIn({ credential: moved, password });
  console.log(outcome, byPasskey.session.aal, byHash.session.aal);
  await other.close();`;

let projects: Projects;
beforeAll(async () => {
  projects = await Projects.create();
  const packages = lowest.map(([name, version]) => `${name}@${version}`);
  await projects.install('.', ...packages, '@types/node@20', TYPESCRIPT);
  await build({
    entryPoints: [join(root, 'spec/support/authenticator.ts')],
    outfile: join(projects.folder, 'app/authenticator.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  await projects.write('app', {
    'package.json': '{ "type": "module" }',
    'main.mjs': MAIN,
    'main.ts': `import type { AddressInfo } from 'node:net';
      import express from 'express';
      import { ${NAMES} } from 'latchkey';
      const config = { database: 'sqlite::memory:' };
      export async function main(): Promise<string> {
        ${IN_TYPESCRIPT}
        return outcome;
      }`,
  });
}, 180_000);
afterAll(() => projects.remove());

test('the lowest version of every peer is installed', async () => {
  for (const [name, version] of lowest) {
    const file = join(projects.folder, 'node_modules', String(name), 'package.json');
    expect([name, JSON.parse(await readFile(file, 'utf8')).version]).toEqual([name, version]);
  }
});

const servers = {
  mysql: process.env.LATCHKEY_SPEC_MYSQL ?? '',
  postgres: process.env.LATCHKEY_SPEC_POSTGRES ?? '',
};

describe.each([
  ['SQLite', createSqlite],
  ...(servers.mysql ? [['MySQL', () => createOnServer('mysql', servers.mysql)] as const] : []),
  ...(servers.postgres ? [['PostgreSQL', () => createOnServer('postgres', servers.postgres)] as const] : []),
])('with the lowest peers, on %s', (_name, create: () => Promise<SpecDatabase>) => {
  test('users sign up, and sign in with a password, a passkey and an imported hash', async () => {
    const database = await create();
    try {
      const env = {
        DATABASE: database.url,
        REDIS: process.env.LATCHKEY_SPEC_REDIS ?? '',
        HASH: await hash('an analytical engine', { memoryCost: 1024, timeCost: 2 }),
      };
      expect(await projects.node('app', 'main.mjs', env)).toBe(`${OUTCOME} 2 1`);
    } finally {
      await database.drop();
    }
  });
});

test('the types work with the lowest TypeScript, and with the lowest types of Express', async () => {
  const options = ['--module', 'nodenext', '--target', 'es2022', '--strict', '--skipLibCheck', '--noEmit'];
  const compiler = join(projects.folder, 'node_modules/typescript/bin/tsc');
  await projects.tool(compiler, [...options, '--types', 'node', 'app/main.ts']);
});
