import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connectByUrl } from '../../../lib/database/connect.js';
import { Projects, withoutOuter } from '../../support/projects.js';
import { Inbox } from './inbox.js';
import { CLIENT, startProvider } from './provider.js';

/** An app with everything, as its developer writes it but for the cost of its hashes. It prints its emails. */
export const APP = `import express from 'express';
import { admin, apiKeys, auditLog, authRouter, createAuth, credentialPassword, currentUser, emailSignIn, oauth, passkeys, requireSession, suspension, twoFactor } from 'latchkey';
import { pages } from 'latchkey/pages';
import { oidc } from 'latchkey/providers';

const { PORT, ISSUER, CLIENT_ID, CLIENT_SECRET, AUTH_SECRET } = process.env;
const auth = createAuth({
  database: 'sqlite:./app.db',
  secret: AUTH_SECRET,
  baseUrl: \`http://localhost:\${PORT}\`,
  appName: 'Notes',
  email: { send: (mail) => console.log(JSON.stringify(mail)) },
  plugins: [
    credentialPassword({ bcryptCost: 4, signInOnSignUp: true, sendVerificationOnSignUp: true, unknownBrowser: 'code' }),
    ...[emailSignIn({ signUp: true }), twoFactor({ trustDevices: { days: 30 } }), passkeys(), apiKeys(), suspension(), auditLog(), oauth()],
    oidc({ id: 'example', issuer: ISSUER, trustEmailVerified: true, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET }),
    admin({ adminEmails: ['admin-on@example.com', 'admin-off@example.com'] }),
    pages({ home: '/notes' }),
  ],
});
await auth.migrate();
const app = express().use('/auth', authRouter(auth));
app.get('/notes', requireSession(auth), (req, res) => res.send(\`<h1>Notes of \${currentUser(req).email}</h1>\`));
app.listen(PORT, 'localhost', () => console.log('ready'));
`;

/** Unpacks the npm package in a project, and starts the app there with an OpenID provider. */
export async function startPackedApp() {
  const projects = await Projects.create();
  const peers = ['express@5', 'sequelize@6', '@photostructure/sqlite@1', '@simplewebauthn/server@14'];
  await projects.link('.', ...peers);
  await projects.write('.', { 'app.mjs': APP });
  const provider = await startProvider();
  const inbox = new Inbox();
  const port = await freePort();
  const child = spawn(process.execPath, ['app.mjs'], {
    cwd: projects.folder,
    env: {
      ...withoutOuter(),
      PORT: port,
      ISSUER: provider.issuer,
      CLIENT_ID: CLIENT.clientId,
      CLIENT_SECRET: CLIENT.clientSecret,
      AUTH_SECRET: 'a secret for specs, of 32 bytes and more',
    },
  });
  const exit = new Promise<void>((ended) => child.once('close', () => ended()));
  const lines: string[] = [];
  await new Promise<void>((ready, fail) => {
    const read = (line: string) => {
      if (line.startsWith('{"kind"')) inbox.add(JSON.parse(line));
      else if (line === 'ready') ready();
      else lines.push(line);
    };
    createInterface({ input: child.stdout }).on('line', read);
    createInterface({ input: child.stderr }).on('line', read);
    void exit.then(() => fail(new Error(`the app has ended: ${lines.join('\n')}`)));
  });
  return {
    inbox,
    /** What the app has printed besides its emails. */
    lines,
    url: (path: string) => `http://localhost:${port}${path}`,
    /** Changes rows of the app's database. */
    async change(statement: string): Promise<void> {
      const database = connectByUrl(`sqlite:${join(projects.folder, 'app.db')}`);
      await database?.query(statement);
      await database?.close();
    },
    async stop(): Promise<void> {
      child.kill('SIGKILL');
      await exit;
      provider.stop();
      await projects.remove();
    },
  };
}

export type PackedApp = Awaited<ReturnType<typeof startPackedApp>>;

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, 'localhost', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return String(address && typeof address === 'object' ? address.port : '');
}
