// Finds the servers and the browser for the specs. A server is found by the URL in the environment, or on its default
// port of this machine. Otherwise a temporary one is started if its program is installed.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * @returns {Promise<{ url: string, stop(): Promise<void> } | null>} null if there is none
 */
export async function findMysql() {
  const nothing = async () => {};
  if (process.env.MYSQL_URL) return { url: process.env.MYSQL_URL, stop: nothing };
  if (await answers(3306)) return { url: 'mysql://root@127.0.0.1:3306', stop: nothing };
  const server = ['/usr/sbin/mariadbd', '/usr/sbin/mysqld'].find((path) => existsSync(path));
  if (!server) return null;
  const { folder, port } = await place();
  execFileSync('mariadb-install-db', [
    `--datadir=${folder}/data`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    ...(isRoot() ? ['--user=mysql'] : []),
  ]);
  if (isRoot()) execFileSync('chown', ['-R', 'mysql', folder]);
  const process_ = spawn(server, [
    '--no-defaults',
    `--datadir=${folder}/data`,
    `--socket=${folder}/socket`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    ...(isRoot() ? ['--user=mysql'] : []),
  ]);
  return running(process_, folder, port, `mysql://root@127.0.0.1:${port}`);
}

/**
 * @returns {Promise<{ url: string, stop(): Promise<void> } | null>} null if there is none
 */
export async function findPostgres() {
  const nothing = async () => {};
  if (process.env.POSTGRES_URL) return { url: process.env.POSTGRES_URL, stop: nothing };
  if (await answers(5432)) return { url: 'postgres://postgres@127.0.0.1:5432', stop: nothing };
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort() : [];
  const bin = versions.length > 0 ? `/usr/lib/postgresql/${versions.at(-1)}/bin` : null;
  if (!bin || !existsSync(`${bin}/initdb`)) return null;
  const { folder, port } = await place();
  // PostgreSQL refuses to run as root.
  const user = isRoot() ? idsOf('postgres') : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  execFileSync(`${bin}/initdb`, ['-D', `${folder}/data`, '-U', 'postgres', '-A', 'trust'], { ...user });
  const process_ = spawn(
    `${bin}/postgres`,
    ['-D', `${folder}/data`, '-p', String(port), '-h', '127.0.0.1', '-k', folder],
    { ...user },
  );
  return running(process_, folder, port, `postgres://postgres@127.0.0.1:${port}`);
}

/**
 * @returns {Promise<{ url: string, stop(): Promise<void> } | null>} null if there is none
 */
export async function findRedis() {
  const nothing = async () => {};
  if (process.env.REDIS_URL) return { url: process.env.REDIS_URL, stop: nothing };
  if (await answers(6379)) return { url: 'redis://127.0.0.1:6379', stop: nothing };
  const server = '/usr/bin/redis-server';
  if (!existsSync(server)) return null;
  const { folder, port } = await place();
  const process_ = spawn(
    server,
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'],
    { stdio: 'ignore' },
  );
  return running(process_, folder, port, `redis://127.0.0.1:${port}`);
}

/**
 * @returns {Promise<{ path: string } | null>} null if there is none
 */
export async function findBrowser() {
  return program('/usr/bin/chromium');
}

/**
 * @returns {Promise<{ path: string } | null>} null if there is none
 */
export async function findNginx() {
  return program('/usr/sbin/nginx');
}

function program(path) {
  return existsSync(path) ? { path } : null;
}

async function place() {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-spec-'));
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return { folder, port };
}

async function running(child, folder, port, url) {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  for (let attempt = 0; attempt < 100 && child.exitCode === null; attempt++) {
    if (await answers(port)) {
      return {
        url,
        async stop() {
          child.kill('SIGTERM');
          await ended;
          rmSync(folder, { recursive: true, force: true });
        },
      };
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  child.kill('SIGKILL');
  throw new Error(`the server for ${url} did not start`);
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
