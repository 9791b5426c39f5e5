import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, SECRET } from '../support/app.js';
import { type Example, installExample, type RunningApp } from '../support/example.js';
import { freePort } from '../support/free-port.mjs';

const NGINX = process.env.LATCHKEY_SPEC_NGINX;
const REDIS = process.env.LATCHKEY_SPEC_REDIS;
const withServers = NGINX && REDIS ? describe : describe.skip;

withServers('examples/behind-nginx', () => {
  let example: Example;
  let first: RunningApp;
  let second: RunningApp;
  let nginx: ChildProcess;
  let port: number;
  let env: Record<string, string>;

  beforeAll(async () => {
    example = await installExample('behind-nginx');
    port = await freePort();
    env = {
      AUTH_SECRET: SECRET,
      BASE_URL: `http://localhost:${port}`,
      REDIS_URL: `${REDIS}?keyPrefix=spec-${randomUUID()}:`,
    };
    [first, second] = await Promise.all([example.start('server.js', env), example.start('server.js', env)]);
    const config = (await readFile(join(example.folder, 'nginx.conf'), 'utf8'))
      .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
      .replace('127.0.0.1:3001', `127.0.0.1:${first.port}`)
      .replace('127.0.0.1:3002', `127.0.0.1:${second.port}`);
    // One process, so that none is left behind when it is killed.
    await writeFile(join(example.folder, 'nginx.conf'), `master_process off;\n${config}`);
    const args = ['-p', example.folder, '-c', 'nginx.conf', '-e', 'stderr'];
    nginx = spawn(String(NGINX), args, { stdio: 'ignore' });
    await listening(port);
    const signUp = await call('/auth/signup/credential', { body: ada });
    expect([signUp.status, signUp.json.user?.email]).toEqual([201, ada.email]);
  }, 120_000);
  afterAll(async () => {
    if (nginx?.exitCode === null && nginx.kill('SIGKILL')) await once(nginx, 'exit');
    await example?.remove();
  });

  interface Json {
    user?: { email: string };
    session?: { ip_address: string };
  }
  interface Call {
    body?: object;
    headers?: Record<string, string>;
    /** The client's own address. */
    from?: string;
    /** A process, past nginx. */
    at?: number;
  }

  const call = (path: string, { body, headers = {}, from = '127.0.0.1', at = port }: Call = {}) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; json: Json }>((resolve, reject) => {
      const sent = { ...headers, ...(body && { 'content-type': 'application/json' }) };
      const target = { host: '127.0.0.1', port: at, path, localAddress: from, headers: sent };
      request({ ...target, method: body ? 'POST' : 'GET' }, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString();
        const json = /json/.test(String(response.headers['content-type'])) ? JSON.parse(text) : {};
        resolve({ status: Number(response.statusCode), headers: response.headers, json });
      })
        .on('error', reject)
        .end(body && JSON.stringify(body));
    });
  const signIn = async (options: Call = {}) => {
    const body = { credential: ada.email, password: ada.password };
    const { status, headers, json } = await call('/auth/signin/credential', { body, ...options });
    const cookie = headers['set-cookie']?.map((line) => line.split(';')[0]).join('; ') ?? '';
    return { status, cookie, session: json.session };
  };
  const processes = () => [first.port, second.port].map((one) => `127.0.0.1:${one}`).sort();

  test('both processes answer for a session, and know the client, whatever it claims', async () => {
    const claims = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };
    const { cookie, session } = await signIn({ from: '127.0.0.7', headers: claims });
    expect(session?.ip_address).toBe('127.0.0.7');
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => call('/hello', { from: '127.0.0.7', headers: { cookie, ...claims } })),
    );
    expect(answers.map(({ json }) => json)).toEqual(
      Array(4).fill({ hello: ada.email, ip: '127.0.0.7', protocol: 'http' }),
    );
    expect([...new Set(answers.map(({ headers }) => headers['x-served-by']))].sort()).toEqual(processes());
  });

  test('a session that is revoked at one process is refused by the other from the next request on', async () => {
    for (const [here, there] of [
      [first.port, second.port],
      [second.port, first.port],
    ]) {
      const { cookie } = await signIn({ from: '127.0.0.8' });
      const headers = { cookie };
      expect((await call('/hello', { at: there, headers })).status).toBe(200);
      expect((await call('/auth/revoke-sessions', { at: here, headers, body: {} })).status).toBe(200);
      expect((await call('/hello', { at: there, headers })).status).toBe(401);
      expect((await call('/hello', { headers })).status).toBe(401);
    }
  });

  test('a page of another origin is refused, and one that nginx has served is not', async () => {
    const { cookie } = await signIn({ from: '127.0.0.9' });
    const post = (origin: string) =>
      call('/auth/revoke-sessions', { headers: { cookie, origin }, body: {}, from: '127.0.0.9' });
    expect((await post('https://evil.example.com')).status).toBe(403);
    expect((await post(`http://localhost:${first.port}`)).status).toBe(403);
    expect((await post(`http://localhost:${port}`)).status).toBe(200);
  });

  test('the limit is the total of both processes, for each client', async () => {
    const statuses: number[] = [];
    const served = new Set<unknown>();
    // Other emails, since wrong passwords for one account have a limit of their own. Four at a time, as many as a
    // process hashes without a queue.
    for (let round = 0; round < 6; round++) {
      const body = (i: number) => ({
        credential: `nobody-${round}-${i}@example.com`,
        password: 'a wrong guess',
      });
      const answers = await Promise.all(
        [1, 2, 3, 4].map((i) =>
          call('/auth/signin/credential', {
            body: body(i),
            from: '127.0.0.20',
            headers: { 'x-forwarded-for': `203.0.113.${round}` },
          }),
        ),
      );
      for (const { status, headers } of answers) {
        statuses.push(status);
        served.add(headers['x-served-by']);
      }
    }
    expect(statuses.sort()).toEqual([...Array(20).fill(401), ...Array(4).fill(429)]);
    expect([...served].sort()).toEqual(processes());
    expect((await signIn({ from: '127.0.0.20' })).status).toBe(429);
    expect((await signIn({ from: '127.0.0.21' })).status).toBe(200);
  }, 180_000);

  test('the processes cannot be reached past nginx from another machine', async () => {
    const others = Object.values(networkInterfaces())
      .flat()
      .filter((one) => one && !one.internal && one.family === 'IPv4');
    for (const { address } of others as { address: string }[]) {
      const [outcome] = await once(connect(first.port, address), 'error').catch((error) => [error]);
      expect(outcome.code).toBe('ECONNREFUSED');
    }
  });

  test('one process restarts, and no request fails', async () => {
    const { cookie } = await signIn({ from: '127.0.0.10' });
    let restarted = false;
    const statuses: number[] = [];
    const visitor = async () => {
      while (!restarted) statuses.push((await call('/hello', { headers: { cookie } })).status);
    };
    const visitors = Promise.all([visitor(), visitor(), visitor()]);
    const { port: place } = second;
    expect(await second.stop()).toBe(0);
    second = await example.start('server.js', { ...env, PORT: String(place) });
    restarted = true;
    await visitors;
    expect(statuses.length).toBeGreaterThan(0);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect((await call('/hello', { at: place, headers: { cookie } })).status).toBe(200);
  }, 180_000);
});

async function listening(port: number): Promise<void> {
  for (const end = Date.now() + 15_000; ; ) {
    const socket = connect(port, '127.0.0.1');
    const is = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (is) return;
    if (Date.now() > end) throw new Error(`nothing listens on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
