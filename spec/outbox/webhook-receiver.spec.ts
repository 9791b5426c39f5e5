import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';
import { startApp } from '../support/app.js';
import { freePort } from '../support/free-port.mjs';

const root = resolve(import.meta.dirname, '../..');
const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

test('the receiver in docs/webhooks.md accepts what latchkey sends, and nothing else', async () => {
  const page = await readFile(resolve(root, 'docs/webhooks.md'), 'utf8');
  const code = /```js\n(\/\/ receiver\.js[\s\S]*?)```/.exec(page)?.[1] ?? '';
  const port = await freePort();
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', PORT: String(port), WEBHOOK_SECRET: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const url = `http://127.0.0.1:${port}/webhooks`;
  expect((await lines.next()).value).toBe('listening');
  const app = await startApp({ config: { webhooks: [{ url, secret: KEY }] } });
  try {
    const { id } = await app.auth.users.create({ email: 'ada@example.com' });
    expect((await lines.next()).value).toBe(`user.created ${id}`);
    const headers = { 'webhook-id': 'x', 'webhook-timestamp': '1', 'webhook-signature': 'v1,x' };
    const body = JSON.stringify({ type: 'user.created', data: {} });
    const forged = { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } };
    expect((await fetch(url, forged)).status).toBe(401);
  } finally {
    child.kill();
    await app.stop();
  }
});
