// Runs the specs in rounds: on SQLite with Express 5, and with --all also end to end (the demo in a browser, the guides,
// the npm package in other projects), the examples, with Express 4 and on the other databases.
//
//   npm test                        SQLite and Express 5
//   npm test -- --all               every round; fails if a database, Redis, a browser or nginx is missing
//   npm test -- --only mysql        one round: sqlite, e2e, examples, express4, mysql or postgres
//   npm test -- spec/router.spec.ts                      other arguments are passed to Jest
//
// With CI in the environment, whatever is missing is a failure too.
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pack } from './pack.mjs';
import {
  findBrowser,
  findFirefox,
  findMysql,
  findNginx,
  findPostgres,
  findRedis,
  findUrls,
} from './servers.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ROUNDS = {
  sqlite: { title: 'SQLite, Express 5', database: 'sqlite', wants: ['redis'] },
  e2e: {
    title: 'End to end',
    database: 'sqlite',
    files: 'e2e',
    wants: ['mysql', 'postgres', 'redis', 'browser', 'firefox', 'nginx', 'urls'],
  },
  examples: {
    title: 'Examples',
    database: 'sqlite',
    files: 'examples',
    wants: ['mysql', 'postgres', 'redis', 'browser', 'nginx'],
  },
  express4: { title: 'SQLite, Express 4', database: 'sqlite', express: '4', wants: ['redis'] },
  mysql: { title: 'MariaDB or MySQL', database: 'mysql', needs: 'mysql', wants: ['redis'] },
  postgres: { title: 'PostgreSQL', database: 'postgres', needs: 'postgres', wants: ['redis'] },
};
/** What rounds need to run at all, or want for some of their specs. */
const PROGRAMS = {
  mysql: { title: 'MariaDB or MySQL', find: findMysql, toInstall: 'mariadb-server' },
  postgres: { title: 'PostgreSQL', find: findPostgres, toInstall: 'postgresql' },
  redis: { title: 'Redis', find: findRedis, toInstall: 'redis-server' },
  browser: { title: 'Chromium', find: findBrowser, toInstall: 'chromium' },
  firefox: { title: 'Firefox', find: findFirefox, toInstall: 'firefox-esr' },
  nginx: { title: 'nginx', find: findNginx, toInstall: 'nginx-light' },
  urls: { title: 'the test data of the URL Standard', find: findUrls, toInstall: 'librust-url-dev' },
};

// Wait for the end of Jest, so that its files are deleted.
process.once('SIGINT', () => process.exit(130));

const { all, only, rest } = readArguments(process.argv.slice(2));
const totals = { passed: 0, failed: 0 };
const rounds = all ? Object.values(ROUNDS) : [ROUNDS[only ?? 'sqlite']];
const found = await findAll(rounds.flatMap(({ needs, wants }) => [...(needs ? [needs] : []), ...wants]));
const missing = Object.keys(found).filter((name) => !found[name]);
const packed = rounds.some(({ files }) => files) ? pack() : null;

for (const round of rounds) {
  if (round.needs && !found[round.needs]) continue;
  console.log(`\n── ${round.title} ──`);
  const { passed, failed } = runJest(round);
  totals.passed += passed;
  totals.failed += failed;
}
for (const one of Object.values(found)) await one?.stop?.();
packed?.remove();

console.log();
for (const name of missing) {
  const { title, toInstall } = PROGRAMS[name];
  console.log(`Not run: the specs that need ${title}. None was found; install ${toInstall}.`);
}
if (all || process.env.CI) totals.failed += missing.length;
if (!all && !only && rest.length === 0) {
  console.log(
    'These were the specs on SQLite with Express 5. npm test -- --all also runs what depends on Express with Express 4,',
  );
  console.log(
    'what depends on the database on MariaDB (or MySQL) and PostgreSQL, and the demo, the guides, the examples and the npm package end to end. It fails',
  );
  console.log('if one of the databases, Redis, Chromium, Firefox or nginx is missing.');
}
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);

/** Looks for each program once; null for one that is missing. */
async function findAll(names) {
  const programs = {};
  for (const name of new Set(names)) programs[name] = await PROGRAMS[name].find();
  return programs;
}

function runJest({ database, express = '5', files = '', needs, wants }) {
  // The other rounds install packages, which can need more memory than there is.
  const isSmall = files === '';
  const folder = mkdtempSync(join((isSmall && memory()) || tmpdir(), 'latchkey-jest-'));
  const [report, tables, temporary] = ['totals.json', 'tables', 'tmp'].map((name) => join(folder, name));
  mkdirSync(tables);
  mkdirSync(temporary);
  // Database servers run as users of their own.
  chmodSync(folder, 0o711);
  const jest = spawnSync(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...rest],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        NODE_ENV: 'test',
        ...(isSmall && { TMPDIR: temporary }),
        LATCHKEY_SPEC_DATABASE: database,
        LATCHKEY_SPEC_EXPRESS: express,
        LATCHKEY_SPEC_FILES: files,
        LATCHKEY_SPEC_URL: needs ? found[needs].url : '',
        LATCHKEY_SPEC_PACKAGE: packed?.folder ?? '',
        LATCHKEY_SPEC_MYSQL: wants.includes('mysql') ? (found.mysql?.url ?? '') : '',
        LATCHKEY_SPEC_POSTGRES: wants.includes('postgres') ? (found.postgres?.url ?? '') : '',
        LATCHKEY_SPEC_REDIS: found.redis?.url ?? '',
        LATCHKEY_SPEC_BROWSER: found.browser?.path ?? '',
        LATCHKEY_SPEC_FIREFOX: found.firefox?.path ?? '',
        LATCHKEY_SPEC_NGINX: found.nginx?.path ?? '',
        LATCHKEY_SPEC_URLS: found.urls?.path ?? '',
        LATCHKEY_SPEC_TABLES: tables,
        LATCHKEY_SPEC_TOTALS: report,
      },
    },
  );
  try {
    const { passed, failed } = JSON.parse(readFileSync(report, 'utf8'));
    return { passed, failed: jest.status === 0 ? failed : Math.max(failed, 1) };
  } catch {
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns a folder in memory, where SQLite does not wait for a disk. Null if there is none with a gigabyte of free space. */
function memory() {
  const folder = '/dev/shm';
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > 2 ** 30 ? folder : null;
  } catch {
    return null;
  }
}

function readArguments(given) {
  const options = { all: false, only: null, rest: [] };
  while (given.length > 0) {
    const word = given.shift();
    if (word === '--all') options.all = true;
    else if (word === '--only') options.only = given.shift();
    else options.rest.push(word);
  }
  if (options.only !== null && !Object.hasOwn(ROUNDS, options.only ?? '')) {
    console.error(`--only takes one of ${Object.keys(ROUNDS).join(', ')}`);
    process.exit(2);
  }
  return options;
}
