// Asks one process for pages, one request at a time, and prints what each takes: for bench/figures/pages.mjs.
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import {
  apiKeys,
  authRouter,
  createAuth,
  credentialPassword,
  passkeys,
  requireSession,
  twoFactor,
} from 'latchkey';
import { pages } from 'latchkey/pages';

const [rounds, requests] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'bench-pages-'));

const common = () => [credentialPassword(), twoFactor(), passkeys(), apiKeys()];
const authOf = (name, plugins) =>
  createAuth({
    database: `sqlite:${join(folder, name)}.db`,
    secret: 'a secret for the bench, of 32 bytes and more',
    baseUrl: 'http://localhost',
    rateLimit: false,
    email: { send: () => undefined },
    plugins,
    logger: { debug() {}, info() {}, warn() {}, error: console.error },
  });
const withPages = authOf('with', [...common(), pages()]);
const without = authOf('without', common());

const app = express();
app.disable('x-powered-by');
let copy = '';
app.get('/copy', (_req, res) => void res.setHeader('Content-Type', 'text/html; charset=utf-8').end(copy));
app.use('/auth', authRouter(withPages));
app.use('/plain', authRouter(without));
app.get('/guarded', requireSession(withPages), (_req, res) => void res.json({ ok: true }));
app.get('/plain-guarded', requireSession(without), (_req, res) => void res.json({ ok: true }));

const cookies = {};
for (const [name, auth] of Object.entries({ withPages, without })) {
  await auth.migrate();
  const { id } = await auth.users.create({ email: 'ada@example.com', emailVerified: true });
  const { token } = await auth.createSession(id);
  cookies[name] = `latchkey=${token}`;
}

const server = app.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const { port } = server.address();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function ask(path, headers = {}) {
  return new Promise((resolve, reject) => {
    get({ port, path, agent, headers }, (res) => {
      const parts = [];
      res.on('data', (part) => parts.push(part));
      res.on('end', () =>
        resolve({ status: res.statusCode, headers: res.headers, body: Buffer.concat(parts) }),
      );
    }).on('error', reject);
  });
}

const html = { accept: 'text/html' };
const CASES = {
  'the same document as a string': ['/copy', {}],
  'sign-in': ['/auth/sign-in', html],
  'sign-up': ['/auth/sign-up', html],
  account: ['/auth/account', { ...html, cookie: cookies.withPages }],
  'account/sessions': ['/auth/account/sessions', { ...html, cookie: cookies.withPages }],
  'account/security': ['/auth/account/security', { ...html, cookie: cookies.withPages }],
  'a guarded JSON request, with pages()': ['/guarded', { cookie: cookies.withPages }],
  'a guarded JSON request, without': ['/plain-guarded', { cookie: cookies.without }],
};

copy = (await ask('/auth/sign-in', html)).body.toString();
const assets = [...copy.matchAll(/(?:href|src)="(\/auth\/assets\/[^"]+)"/g)].map(([, path]) => path);
let compressed = 0;
for (const path of assets) compressed += (await ask(path, { 'accept-encoding': 'br' })).body.length;

const times = Object.fromEntries(Object.keys(CASES).map((name) => [name, []]));
for (let round = -1; round < rounds; round++)
  for (const [name, [path, headers]] of Object.entries(CASES)) {
    const { status } = await ask(path, headers);
    if (status !== 200) throw new Error(`${path}: ${status}`);
    const [cpu, start] = [process.cpuUsage(), performance.now()];
    for (let count = 0; count < requests; count++) await ask(path, headers);
    const { user, system } = process.cpuUsage(cpu);
    // The first round warms up.
    if (round >= 0)
      times[name].push({
        ms: (performance.now() - start) / requests,
        cpu: (user + system) / 1000 / requests,
      });
  }

console.log(JSON.stringify({ times, compressed, files: assets.length }));
server.close();
agent.destroy();
await withPages.close();
await without.close();
rmSync(folder, { recursive: true, force: true });
