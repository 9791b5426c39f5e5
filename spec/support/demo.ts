import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join, resolve } from 'node:path';
import { freePort } from './free-port.mjs';

const MAX_STARTS = 3;
const ELSEWHERE = /^(DATABASE_URL|AUTH_SECRET|NODE_ENV|(GOOGLE|GITHUB)_CLIENT_(ID|SECRET))$/;

/** The demo app, running in its own process. */
export interface Demo {
  readonly origin: string;
  /** The environment variables with its ports. */
  readonly ports: { readonly PORT: string; readonly PROVIDER_PORT: string };
  readonly child: ChildProcess;
  /** The exit code, after the process has ended. */
  readonly exit: Promise<number | null>;
  output(): string;
  end(): Promise<void>;
}

/** Starts the demo, without the environment variables that would change its configuration. */
export function spawnDemo(env: Record<string, string>): Omit<Demo, 'origin' | 'ports'> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ELSEWHERE.test(name)));
  const child = spawn(process.execPath, ['--import', 'tsx', 'demo-app/server.ts'], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: { ...inherited, ...env },
  });
  let text = '';
  const collect = (chunk: Buffer) => {
    text += chunk;
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const exit = new Promise<number | null>((done) => child.once('close', done));
  return {
    child,
    exit,
    output: () => text,
    async end() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** Starts the demo on free ports, and waits until it is ready. */
export async function startDemo(data: string, env: Record<string, string> = {}): Promise<Demo> {
  for (let start = 1; ; start++) {
    const [port, providerPort] = [String(await freePort()), String(await freePort())];
    const ports = { PORT: env.PORT ?? port, PROVIDER_PORT: env.PROVIDER_PORT ?? providerPort };
    const started = spawnDemo({ DEMO_DATA: data, ...env, ...ports });
    while (started.child.exitCode === null) {
      // Wait for the last line that it prints when it starts. Otherwise a spec could read its output too early.
      const origin = /The demo is at (http:\S+)\s+.*the password in \S+\n/.exec(started.output())?.[1];
      if (origin) return { ...started, origin, ports };
      await pause(50);
    }
    // Another process might take a port after it was found to be free.
    const isTaken = /is taken/.test(started.output());
    if (!isTaken || start === MAX_STARTS) throw new Error(`the demo did not start: ${started.output()}`);
  }
}

/** The credentials of the demo's administrator. */
export async function adminCredentials(data: string) {
  const password = (await readFile(join(data, 'admin-password.txt'), 'utf8')).trim();
  return { credential: 'admin@example.com', password };
}

/** Signs the administrator in with the code from the email, because this program is unknown to the account. */
export async function signInAsAdmin({ origin }: Pick<Demo, 'origin'>, data: string): Promise<Response> {
  const before = (await codesIn(origin)).length;
  const first = await postJson(`${origin}/auth/signin/credential`, await adminCredentials(data));
  const { pending_token } = (await first.json()).second_factor;
  for (;;) {
    const [code, ...others] = await codesIn(origin);
    if (code && others.length >= before)
      return postJson(`${origin}/auth/signin/second-factor`, { method: 'email_code', code, pending_token });
    await pause(20);
  }
}

/** The codes in the demo's emails, newest first. */
export async function codesIn(origin: string): Promise<string[]> {
  const { mails } = await (await fetch(`${origin}/api/mails`)).json();
  return mails.flatMap(({ text }: { text: string }) => /^\d{8}$/m.exec(text) ?? []);
}

export function postJson(url: string, content: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(content) });
}

/** Sends a request without the end of its body, on a keep-alive connection. */
export async function postHalf(url: string, content: object) {
  const body = JSON.stringify(content);
  const sending = request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    agent: new Agent({ keepAlive: true }),
  });
  const status = new Promise<number | undefined>((done, fail) => {
    sending.once('response', (response) => done(response.resume().statusCode));
    sending.once('error', fail);
  });
  await new Promise((written) => sending.write(body.slice(0, 5), written));
  await pause(200);
  return {
    finish() {
      sending.end(body.slice(5));
      return status;
    },
  };
}

/** Waits until the server no longer accepts connections. */
export async function refusesConnections(origin: string): Promise<void> {
  for (;;) {
    const refused = await new Promise((done) => {
      request(origin, { agent: false }, (response) => {
        response.resume();
        done(false);
      })
        .once('error', () => done(true))
        .end();
    });
    if (refused) return;
    await pause(20);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
