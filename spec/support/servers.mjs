// Finds the servers and the browser for the specs. A server is found by the URL in the environment, or on its default
// port of this machine. Otherwise a temporary one is started if its program is installed. Specs of faults start servers
// of their own, which they can freeze and kill.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeMysqlData } from '../../bench/support/mysql-data.mjs';
import { freePort } from './free-port.mjs';
import { memoryFolder } from './memory-folder.mjs';

export const REDIS_SERVER = '/usr/bin/redis-server';

/**
 * A server of the specs' own, which need not write to the disk before it answers, or else the one that runs.
 *
 * @returns {Promise<{ url: string, stop(): Promise<void> } | null>} null if there is none
 */
export async function findMysql() {
  const nothing = async () => {};
  if (process.env.MYSQL_URL) return { url: process.env.MYSQL_URL, stop: nothing };
  const own = await startMysql();
  if (own || !(await answers(3306))) return own;
  return { url: 'mysql://root@127.0.0.1:3306', stop: nothing };
}

/**
 * As {@link findMysql}.
 *
 * @returns {Promise<{ url: string, stop(): Promise<void> } | null>} null if there is none
 */
export async function findPostgres() {
  const nothing = async () => {};
  if (process.env.POSTGRES_URL) return { url: process.env.POSTGRES_URL, stop: nothing };
  const own = await startPostgres();
  if (own || !(await answers(5432))) return own;
  return { url: 'postgres://postgres@127.0.0.1:5432', stop: nothing };
}

/**
 * A server with a data directory of its own.
 *
 * @typedef {object} OwnServer
 * @property {string} url
 * @property {() => void} freeze stops all its processes, which keep their connections
 * @property {() => void} thaw
 * @property {() => Promise<void>} kill ends all its processes at once, as a crash does
 * @property {() => Promise<void>} restart starts it again after `kill`, with the same data and port
 * @property {() => Promise<void>} stop
 */

/**
 * @returns {Promise<OwnServer | null>} null if it is not installed
 */
export async function startMysql() {
  const server = ['/usr/sbin/mariadbd', '/usr/sbin/mysqld'].find((path) => existsSync(path));
  if (!server) return null;
  const { folder, port } = await place();
  const asUser = isRoot() ? ['--user=mysql'] : [];
  if (isRoot()) execFileSync('chown', ['mysql', folder]);
  const data = makeMysqlData(server, `${folder}/data`, asUser);
  // What a server has written outlives its process; only the machine's end would need it on the disk.
  const unsynced = [
    '--innodb-flush-log-at-trx-commit=2',
    '--innodb-flush-method=nosync',
    '--loose-sync-frm=0',
  ];
  const address = [`--socket=${folder}/socket`, `--port=${port}`, '--bind-address=127.0.0.1'];
  // Every app has some forty tables. By default, a server keeps those of ten.
  const caches = ['--table-definition-cache=8000', '--table-open-cache=8000'];
  const flags = [...address, ...unsynced, ...caches, '--skip-log-bin'];
  return ownServer(folder, port, `mysql://root@127.0.0.1:${port}`, server, [...data, ...flags]);
}

/**
 * @returns {Promise<OwnServer | null>} null if it is not installed
 */
export async function startPostgres() {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort() : [];
  const bin = versions.length > 0 ? `/usr/lib/postgresql/${versions.at(-1)}/bin` : null;
  if (!bin || !existsSync(`${bin}/initdb`)) return null;
  const { folder, port } = await place();
  // PostgreSQL refuses to run as root.
  const user = isRoot() ? idsOf('postgres') : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const initialize = ['-D', `${folder}/data`, '-U', 'postgres', '-A', 'trust'];
  execFileSync(`${bin}/initdb`, initialize, { ...user, stdio: 'ignore' });
  const flags = [
    '-D',
    `${folder}/data`,
    '-p',
    String(port),
    '-h',
    '127.0.0.1',
    '-k',
    folder,
    '-c',
    'fsync=off',
  ];
  // It answers before it is ready, with an error.
  const isReady = (id) => {
    const lines = linesOf(`${folder}/data/postmaster.pid`);
    return Number(lines[0]) === id && lines[7]?.trim() === 'ready';
  };
  const url = `postgres://postgres@127.0.0.1:${port}`;
  // With SIGTERM, it would wait until its clients have gone.
  return ownServer(folder, port, url, `${bin}/postgres`, flags, { user, isReady, ending: 'SIGINT' });
}

/**
 * @returns {Promise<{ url: string, stop(): Promise<void> } | null>} null if there is none
 */
export async function findRedis() {
  const nothing = async () => {};
  if (process.env.REDIS_URL) return { url: process.env.REDIS_URL, stop: nothing };
  if (await answers(6379)) return { url: 'redis://127.0.0.1:6379', stop: nothing };
  return startRedis();
}

/**
 * @returns {Promise<OwnServer | null>} null if it is not installed
 */
export async function startRedis() {
  if (!existsSync(REDIS_SERVER)) return null;
  const { folder, port } = await place();
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  return ownServer(folder, port, `redis://127.0.0.1:${port}`, REDIS_SERVER, [...flags, '--appendonly', 'no']);
}

/**
 * @returns {Promise<{ path: string } | null>} null if there is none
 */
export async function findBrowser() {
  // Without the window and its parts, which are not used here, it takes half as long.
  return (await program('/usr/bin/chromium-headless-shell')) ?? program('/usr/bin/chromium');
}

/**
 * @returns {Promise<{ path: string } | null>} null if there is none
 */
export async function findFirefox() {
  return program('/usr/bin/firefox-esr');
}

/**
 * @returns {Promise<{ path: string } | null>} null if there is none
 */
export async function findNginx() {
  return program('/usr/sbin/nginx');
}

/**
 * Looks for the test data of the URL Standard, which Debian has in the package of a library for URLs.
 *
 * @returns {Promise<{ path: string } | null>} null if there is none
 */
export async function findUrls() {
  const registry = '/usr/share/cargo/registry';
  const library = existsSync(registry) && readdirSync(registry).find((name) => /^url-\d/.test(name));
  return library ? program(join(registry, library, 'tests/urltestdata.json')) : null;
}

function program(path) {
  return existsSync(path) ? { path } : null;
}

async function place() {
  const folder = mkdtempSync(join(memoryFolder(4 * 2 ** 30) ?? tmpdir(), 'latchkey-spec-'));
  return { folder, port: await freePort() };
}

/** @returns {Promise<OwnServer>} */
async function ownServer(folder, port, url, program, flags, options = {}) {
  const { user = {}, isReady = () => true, ending = 'SIGTERM' } = options;
  let child = null;
  let ended = Promise.resolve();
  const signalAll = (name) => {
    for (const id of child ? withChildren(child.pid) : []) signal(id, name);
  };
  const killAll = () => signalAll('SIGKILL');
  process.once('exit', killAll);
  const start = async () => {
    // A pipe that nobody reads would stop it: run.mjs waits for Jest, and does nothing else meanwhile.
    const started = spawn(program, flags, { ...user, stdio: 'ignore' });
    child = started;
    ended = new Promise((resolve) => started.once('exit', resolve));
    for (let attempt = 0; attempt < 400 && started.exitCode === null; attempt++) {
      if ((await answers(port)) && isReady(started.pid)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    killAll();
    throw new Error(`the server for ${url} did not start`);
  };
  await start();
  return {
    url,
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async kill() {
      const ids = withChildren(child.pid);
      killAll();
      await ended;
      // PostgreSQL does not start again while one of its processes lives.
      while (ids.some((id) => signal(id, 0))) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    restart: start,
    async stop() {
      process.off('exit', killAll);
      signalAll('SIGCONT');
      child.kill(ending);
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function linesOf(path) {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
}

/** A process and its children, such as PostgreSQL's one for each connection. */
function withChildren(id) {
  const path = `/proc/${id}/task/${id}/children`;
  const children = existsSync(path) ? readFileSync(path, 'utf8').split(' ').filter(Boolean) : [];
  return [id, ...children.map(Number)];
}

/** @returns {boolean} whether the process exists */
function signal(id, name) {
  try {
    return process.kill(id, name);
  } catch {
    return false;
  }
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 });
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

function isRoot() {
  return process.getuid?.() === 0;
}

function idsOf(user) {
  const id = (flag) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
