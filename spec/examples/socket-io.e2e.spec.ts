import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Browser, chromium } from 'playwright-core';
import { io as connect, type Socket } from 'socket.io-client';
import { ada, SECRET } from '../support/app.js';
import { type Example, installExample, type RunningApp } from '../support/example.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const grace = { email: 'grace@example.com', password: 'a moth in a relay' };

let example: Example;
let app: RunningApp;
const sockets: Socket[] = [];

beforeAll(async () => {
  example = await installExample('socket.io');
  app = await example.start('server.js', { AUTH_SECRET: SECRET });
  for (const account of [ada, grace]) await post('/signup/credential', account);
}, 120_000);
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});
afterAll(() => example?.remove());

const post = (path: string, body?: object, cookie = '') =>
  fetch(`${app.url}/auth${path}`, {
    method: 'POST',
    headers: { cookie, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });

async function signIn({ email, password } = ada): Promise<string> {
  const response = await post('/signin/credential', { credential: email, password });
  const cookies = response.headers.getSetCookie().map((line) => line.split(';')[0]);
  return String(cookies.find((pair) => pair?.startsWith('latchkey=')));
}

function open(headers: Record<string, string>): Socket {
  const socket = connect(app.url, { extraHeaders: headers, transports: ['websocket'], reconnection: false });
  sockets.push(socket);
  return socket;
}

/** 'connected', or the code of the refusal. */
const outcome = (headers: Record<string, string>) =>
  new Promise((resolve) => {
    const socket = open(headers);
    socket.on('connect', () => resolve('connected'));
    socket.on('connect_error', (error) => resolve((error as { data?: { code: string } }).data?.code));
  });
const connected = (socket: Socket) => new Promise<void>((resolve) => socket.once('connect', resolve));
const disconnected = (socket: Socket) => new Promise((resolve) => socket.once('disconnect', resolve));

describe('examples/socket.io', () => {
  test('its guard is the one of docs/socket-io.md', async () => {
    const page = await readFile(join(root, 'docs/socket-io.md'), 'utf8');
    const server = await readFile(join(root, 'examples/socket.io/server.js'), 'utf8');
    const [, code = ''] = /^```js\n([\s\S]*?)^```$/m.exec(page) ?? [];
    const afterImports = code.slice(code.indexOf('\n\n') + 2);
    expect(afterImports).toContain('io.use');
    expect(server).toContain(afterImports);
  });

  test('a socket with a session is connected, and one without is refused', async () => {
    const socket = open({ cookie: await signIn() });
    const heard = new Promise((resolve) => socket.once('said', resolve));
    socket.emit('say', 'hello');
    expect(await heard).toEqual({ by: ada.email, text: 'hello' });
    expect(await outcome({})).toBe('unauthenticated');
    expect(await outcome({ cookie: 'latchkey=lks_junk' })).toBe('invalid_session');
  });

  test('a page of another site cannot open a socket in the name of its visitor', async () => {
    const cookie = await signIn();
    expect(await outcome({ cookie, origin: 'https://evil.example.com' })).toBe('origin_not_allowed');
    expect(await outcome({ cookie, origin: app.url })).toBe('connected');
  });

  test('a socket is closed when its session is revoked, and another one stays', async () => {
    const [own, other, foreign] = [await signIn(), await signIn(), await signIn(grace)];
    const [ending, staying] = [open({ cookie: own }), open({ cookie: foreign })];
    await Promise.all([connected(ending), connected(staying)]);
    const end = disconnected(ending);
    expect((await post('/revoke-sessions', undefined, other)).status).toBe(200);
    expect(await end).toBe('io server disconnect');
    const heard = new Promise((resolve) => staying.once('said', resolve));
    staying.emit('say', 'still here');
    expect(await heard).toEqual({ by: grace.email, text: 'still here' });
  });

  test('no socket outlives a session that ends while it connects', async () => {
    const cookie = await signIn();
    const { held, release } = await app.holdNext();
    const socket = open({ cookie });
    const closed = disconnected(socket);
    // The socket's session has been read, and ends before the socket is in its room.
    await held;
    expect((await post('/signout', undefined, cookie)).status).toBe(204);
    release();
    expect(await closed).toBe('io server disconnect');
  });
});

const inBrowser = process.env.LATCHKEY_SPEC_BROWSER ? describe : describe.skip;
inBrowser('examples/socket.io in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: process.env.LATCHKEY_SPEC_BROWSER,
      args: ['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
    });
  });
  afterAll(() => browser?.close());

  test('two people chat until one signs out everywhere', async () => {
    const visit = async ({ email, password }: typeof ada, button: string) => {
      const page = await (await browser.newContext()).newPage();
      await page.goto(app.url);
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: button }).click();
      await page.getByLabel('Message').waitFor();
      return page;
    };
    const laptop = await visit({ email: 'joan@example.com', password: 'a colossus of valves' }, 'Sign up');
    const phone = await visit({ email: 'joan@example.com', password: 'a colossus of valves' }, 'Sign in');
    const other = await visit(grace, 'Sign in');
    await laptop.getByLabel('Message').fill('Hello, Grace');
    await laptop.getByRole('button', { name: 'Send' }).click();
    await other.getByText('joan@example.com: Hello, Grace').waitFor();
    await phone.getByRole('button', { name: 'Sign out everywhere' }).click();
    await laptop.getByText('Your session has ended.').waitFor();
    await laptop.getByLabel('Email').waitFor();
    await other.getByLabel('Message').fill('Joan?');
    await other.getByRole('button', { name: 'Send' }).click();
    await other.getByText(`${grace.email}: Joan?`).waitFor();
  }, 180_000);
});
