import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Prints the URL of every module that Node loads. */
const HOOKS = `import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    writeSync(1, url + '\\n');
    return next(url, context);
  }`;

/** An app with every other plugin, in which somebody signs up, in and out. Prints the statuses. */
const APP = `
  import express from 'express';
  import * as latchkey from './lib/index.ts';
  import { pages } from './lib/pages.ts';
  import { github } from './lib/providers.ts';
  const { admin, apiKeys, auditLog, authRouter, createAuth, credentialPassword, emailSignIn } = latchkey;
  const { oauth, passkeys, requireSession, suspension, twoFactor } = latchkey;
  const auth = createAuth({
    database: 'sqlite::memory:',
    secret: 'a secret for specs, of 32 bytes and more',
    baseUrl: 'http://localhost:3000',
    bearerEnabled: true,
    email: { send() {} },
    plugins: [
      ...[credentialPassword({ bcryptCost: 4 }), emailSignIn(), oauth(), twoFactor(), passkeys(), pages()],
      ...[admin({ adminEmails: ['root@example.com'] }), apiKeys(), suspension(), auditLog()],
      github({ clientId: 'app', clientSecret: 'the client secret' }),
    ],
  });
  await auth.migrate();
  await auth.users.ensure({ email: 'owner@example.com', emailVerified: true });
  const app = express().use('/auth', authRouter(auth));
  app.get('/page', requireSession(auth), (_req, res) => void res.json({}));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = 'http://127.0.0.1:' + server.address().port;
  const statuses = [];
  const headers = { 'content-type': 'application/json' };
  const visit = async (path, body) => {
    const given = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(origin + path, { headers, ...given });
    statuses.push(response.status);
    const token = response.headers.get('set-auth-token');
    if (token) headers.authorization = 'Bearer ' + token;
  };
  const [email, password] = ['ada@example.com', 'an analytical engine'];
  await visit('/auth/signup/credential', { email, password });
  await visit('/auth/signin/credential', { credential: email, password });
  await visit('/page');
  await visit('/auth/signout', {});
  await visit('/page');
  console.log('statuses ' + statuses.join(' '));
  server.closeAllConnections();
  server.close();
  await auth.close();`;

const asModule = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;

async function outputOf(app: string): Promise<string> {
  const hooks = `import { register } from "node:module"; register(${JSON.stringify(asModule(HOOKS))});`;
  const imports = ['tsx', asModule(hooks)].map((one) => `--import=${one}`);
  const given = [...imports, '--input-type=module', '--eval', app];
  return (await run(process.execPath, given, { cwd: root })).stdout;
}

test('an app without the plugin loads no file of lib/moving-in', async () => {
  const output = await outputOf(APP);
  expect(output).toContain('statuses 201 200 200 204 401');
  expect(output).toContain('/lib/http/admit.ts');
  expect(output).not.toMatch(/\/lib\/moving-in/);
});

test('and its entry point does', async () => {
  expect(await outputOf("import './lib/moving-in.ts'")).toMatch(/\/lib\/moving-in\/index\.ts/);
});
