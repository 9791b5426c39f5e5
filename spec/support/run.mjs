// Runs the specs in rounds: on SQLite with Express 5, and with --all also end to end (the demo in a browser, the guides,
// the npm package in other projects), with Express 4 and on the other databases.
//
//   npm test                        SQLite and Express 5
//   npm test -- --all               every round; fails if a database, Redis, Chromium or nginx is missing
//   npm test -- --only mysql        one round: sqlite, e2e, express4, mysql or postgres
//   npm test -- spec/router.spec.ts                      other arguments are passed to Jest
//
// With CI in the environment, whatever is missing is a failure too.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBrowser, findMysql, findNginx, findPostgres, findRedis } from './servers.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ROUNDS = {
  sqlite: { title: 'SQLite, Express 5', database: 'sqlite' },
  e2e: { title: 'End to end', database: 'sqlite', isEndToEnd: true },
  express4: { title: 'SQLite, Express 4', database: 'sqlite', express: '4' },
  mysql: { title: 'MariaDB or MySQL', database: 'mysql', find: findMysql, toInstall: 'mariadb-server' },
  postgres: { title: 'PostgreSQL', database: 'postgres', find: findPostgres, toInstall: 'postgresql' },
};
/** What some of the specs need. */
const EXTRAS = {
  redis: { title: 'Redis', find: findRedis, toInstall: 'redis-server' },
};
const END_TO_END_EXTRAS = {
  browser: { title: 'Chromium, for the demo', find: findBrowser, toInstall: 'chromium' },
  nginx: { title: 'nginx, for the page about deployment', find: findNginx, toInstall: 'nginx-light' },
};

const { all, only, rest } = readArguments(process.argv.slice(2));
const totals = { passed: 0, failed: 0 };
const missing = [];

const rounds = all ? Object.values(ROUNDS) : [ROUNDS[only ?? 'sqlite']];
const extras = {
  ...(rounds.some(({ isEndToEnd }) => !isEndToEnd) && (await findAll(EXTRAS))),
  ...(rounds.some(({ isEndToEnd }) => isEndToEnd) && (await findAll(END_TO_END_EXTRAS))),
};
for (const round of rounds) {
  const server = round.find ? await round.find() : { url: '' };
  if (!server) {
    missing.push(round);
    continue;
  }
  console.log(`\n── ${round.title} ──`);
  const { passed, failed } = runJest(round, server.url);
  totals.passed += passed;
  totals.failed += failed;
  await server.stop?.();
}
for (const { stop } of Object.values(extras)) await stop?.();

console.log();
for (const { title, toInstall } of missing) {
  console.log(`Not run: the specs that need ${title}. None was found; install ${toInstall}.`);
}
if (all || process.env.CI) totals.failed += missing.length;
if (!all && !only && rest.length === 0) {
  console.log(
    'These were the specs on SQLite with Express 5. npm test -- --all runs them with Express 4, on MariaDB (or',
  );
  console.log(
    'MySQL) and on PostgreSQL too, and the demo, the guides and the npm package end to end. It fails if one of the',
  );
  console.log('databases, Redis, Chromium or nginx is missing.');
}
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);

/** Finds what is there, and notes what is missing. */
async function findAll(wanted) {
  const found = {};
  for (const [name, one] of Object.entries(wanted)) {
    const server = await one.find();
    if (server) found[name] = server;
    else missing.push(one);
  }
  return found;
}

function runJest({ database, express = '5', isEndToEnd = false }, url) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-jest-'));
  const report = join(folder, 'totals.json');
  const jest = spawnSync(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...rest],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        NODE_ENV: 'test',
        LATCHKEY_SPEC_DATABASE: database,
        LATCHKEY_SPEC_EXPRESS: express,
        LATCHKEY_SPEC_END_TO_END: isEndToEnd ? '1' : '',
        LATCHKEY_SPEC_URL: url,
        LATCHKEY_SPEC_REDIS: extras.redis?.url ?? '',
        LATCHKEY_SPEC_BROWSER: extras.browser?.path ?? '',
        LATCHKEY_SPEC_NGINX: extras.nginx?.path ?? '',
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
