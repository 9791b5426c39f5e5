// Throw-away database servers on the cores of the load, with settings that are the same on every machine. They are
// started when a figure first asks for one, and stopped at the end of the run.
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { otherCores } from './machine.mjs';
import { makeMysqlData } from './mysql-data.mjs';
import { sleep, start } from './processes.mjs';

/**
 * @typedef {object} Server
 * @property {'mysql' | 'postgres' | 'redis'} dialect
 * @property {string} name with the version, such as `MariaDB 10.11.14`
 * @property {number} pid
 * @property {number} port
 * @property {(database: string) => string} url
 * @property {(database: string) => Promise<void>} createDatabase drops it first if it exists
 * @property {() => Promise<Statements>} statements those executed so far; the difference of two counts is what counts
 * @property {() => Promise<void>} stop
 */

/**
 * @typedef {object} Statements
 * @property {number} selects
 * @property {number} writes INSERT, UPDATE, DELETE and REPLACE
 * @property {number} all
 */

/** What is missing on this machine for a figure. */
export class Missing extends Error {}

/** Starts servers at the first request for each. */
export class Databases {
  #started = new Map();

  /** @param {'mysql' | 'postgres' | 'redis'} dialect @returns {Promise<Server>} @throws Missing */
  get(dialect) {
    if (!this.#started.has(dialect)) {
      this.#started.set(
        dialect,
        { mysql: startMysql, postgres: startPostgres, redis: startRedis }[dialect](),
      );
    }
    return this.#started.get(dialect);
  }

  /** The servers that run. */
  async running() {
    const outcomes = await Promise.allSettled(this.#started.values());
    return outcomes.flatMap(({ value }) => value ?? []);
  }

  async stop() {
    await Promise.all((await this.running()).map((server) => server.stop()));
    this.#started.clear();
  }
}

/** The difference of two counts of statements. */
export function statementsBetween(before, after) {
  return Object.fromEntries(Object.entries(after).map(([kind, count]) => [kind, count - before[kind]]));
}

async function startMysql() {
  const program = found(
    ['/usr/sbin/mariadbd', '/usr/sbin/mysqld'],
    'MariaDB or MySQL (Debian: mariadb-server)',
  );
  const place = await newPlace('mysql');
  const { folder, port } = place;
  const asUser = isRoot() ? ['--user=mysql'] : [];
  if (isRoot()) execFileSync('chown', ['mysql', folder]);
  const data = makeMysqlData(program, `${folder}/data`, asUser);
  const child = start(otherCores, program, [
    ...[...data, `--socket=${folder}/socket`, `--port=${port}`],
    ...['--bind-address=127.0.0.1', '--innodb-buffer-pool-size=1G', '--innodb-log-file-size=1G'],
    '--innodb-flush-log-at-trx-commit=1',
    ...['--skip-log-bin', '--max-connections=500'],
  ]);
  await untilItAnswers(child, port, 'MariaDB');
  const url = (database) => `mysql://root@127.0.0.1:${port}/${database}`;
  const client = await createConnection({ uri: url(''), multipleStatements: true });
  const [[{ version, comment }]] = await client.query(
    'SELECT VERSION() AS version, @@version_comment AS comment',
  );
  const isMaria = /mariadb|debian/i.test(`${version} ${comment}`);
  return {
    dialect: 'mysql',
    name: `${isMaria ? 'MariaDB' : 'MySQL'} ${version.split('-')[0]}`,
    pid: child.pid,
    port,
    url,
    async createDatabase(database) {
      await client.query(
        `DROP DATABASE IF EXISTS \`${database}\`; CREATE DATABASE \`${database}\` CHARACTER SET utf8mb4`,
      );
    },
    async statements() {
      const [rows] = await client.query(
        "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Com\\_%' OR Variable_name = 'Questions'",
      );
      const counts = Object.fromEntries(
        rows.map(({ Variable_name, Value }) => [Variable_name, Number(Value)]),
      );
      const writes = counts.Com_insert + counts.Com_update + counts.Com_delete + counts.Com_replace;
      return { selects: counts.Com_select, writes, all: counts.Questions };
    },
    async stop() {
      await client.end();
      await child.stop();
      place.remove();
    },
  };
}

async function startPostgres() {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1);
  const bin = `/usr/lib/postgresql/${newest}/bin`;
  found([`${bin}/initdb`], 'PostgreSQL (Debian: postgresql)');
  const place = await newPlace('postgres');
  const { folder, port } = place;
  // PostgreSQL refuses to run as root.
  const user = isRoot() ? { uid: idOf('-u', 'postgres'), gid: idOf('-g', 'postgres') } : {};
  if (isRoot()) chownSync(folder, user.uid, user.gid);
  execFileSync(`${bin}/initdb`, ['-D', `${folder}/data`, '-U', 'postgres', '-A', 'trust'], {
    ...user,
    stdio: 'ignore',
  });
  const counts = existsSync(`/usr/share/postgresql/${newest}/extension/pg_stat_statements.control`);
  const child = start(
    otherCores,
    `${bin}/postgres`,
    [
      ...['-D', `${folder}/data`, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-N', '300'],
      ...['-c', 'shared_buffers=1GB', '-c', 'jit=off'],
      ...(counts ? ['-c', 'shared_preload_libraries=pg_stat_statements'] : []),
    ],
    user,
  );
  await untilItAnswers(child, port, 'PostgreSQL');
  const url = (database) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const client = new pg.Client(url('postgres'));
  await client.connect();
  const { rows } = await client.query('SHOW server_version');
  if (counts) await client.query('CREATE EXTENSION pg_stat_statements');
  return {
    dialect: 'postgres',
    name: `PostgreSQL ${rows[0].server_version.split(' ')[0]}`,
    pid: child.pid,
    port,
    url,
    async createDatabase(database) {
      await client.query(`DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`);
      await client.query(`CREATE DATABASE "${database}"`);
    },
    async statements() {
      if (!counts) return { selects: Number.NaN, writes: Number.NaN, all: Number.NaN };
      const { rows: sums } = await client.query(`SELECT
        COALESCE(SUM(calls) FILTER (WHERE query ~* '^\\s*(SELECT|WITH)'), 0)::float8 AS selects,
        COALESCE(SUM(calls) FILTER (WHERE query ~* '^\\s*(INSERT|UPDATE|DELETE)'), 0)::float8 AS writes,
        COALESCE(SUM(calls), 0)::float8 AS all FROM pg_stat_statements`);
      return sums[0];
    },
    async stop() {
      await client.end();
      await child.stop('SIGINT');
      place.remove();
    },
  };
}

async function startRedis() {
  const program = found(['/usr/bin/redis-server'], 'Redis (Debian: redis-server)');
  const place = await newPlace('redis');
  const { folder, port } = place;
  const child = start(otherCores, program, [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'],
  ]);
  await untilItAnswers(child, port, 'Redis');
  const version = /v=(\S+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[1];
  return {
    dialect: 'redis',
    name: `Redis ${version}`,
    pid: child.pid,
    port,
    url: () => `redis://127.0.0.1:${port}`,
    createDatabase: async () => {},
    statements: async () => ({ selects: 0, writes: 0, all: 0 }),
    async stop() {
      await child.stop();
      place.remove();
    },
  };
}

/** @throws Missing */
function found(paths, what) {
  const path = paths.find((one) => existsSync(one));
  if (!path) throw new Missing(`${what} is not installed`);
  return path;
}

async function newPlace(name) {
  const folder = mkdtempSync(join(tmpdir(), `latchkey-bench-${name}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return { folder, port, remove };
}

async function untilItAnswers(child, port, name) {
  let ended = false;
  void child.ended.then(() => {
    ended = true;
  });
  for (let attempt = 0; attempt < 300 && !ended; attempt++) {
    if (await answers(port)) return;
    await sleep(100);
  }
  await child.stop('SIGKILL');
  throw new Error(`${name} did not start: ${child.output()}`);
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

function idOf(flag, user) {
  return Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
}
