// Runs the specs by the projects of jest.config.mjs, all in one call of Jest.
//
//   npm test                          the project `specs`: SQLite and Express 5, without what takes long
//   npm test -- --all                 every project; fails if a database, Redis, a browser or nginx is missing
//   npm test -- --only mysql,walks    some projects: specs, walks, express4, mysql, postgres, e2e
//   npm test -- --alone               gives each file a process of its own, and so finds one that needs another one
//   npm test -- spec/router.express.spec.ts     other arguments are passed to Jest; walks are then run too
//
// With CI in the environment, whatever is missing is a failure too.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryFolder } from './memory-folder.mjs';
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
/** What the specs of a project use. Without what it needs, none of them runs. */
const PROJECTS = {
  specs: { wants: ['redis'] },
  walks: { wants: ['redis'] },
  express4: { wants: ['redis'] },
  mysql: { needs: 'mysql', wants: ['redis'] },
  postgres: { needs: 'postgres', wants: ['redis'] },
  e2e: { wants: ['mysql', 'postgres', 'redis', 'browser', 'firefox', 'nginx', 'urls'] },
};
/** The programs, and what Debian calls their packages. */
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

const started = Date.now();
const { all, only, alone, rest } = readArguments(process.argv.slice(2));
const isWhole = !all && !only && rest.length === 0;
const chosen = all ? Object.keys(PROJECTS) : (only ?? (isWhole ? ['specs'] : ['specs', 'walks']));
const found = await findAll(
  chosen.flatMap((name) => [PROJECTS[name].needs ?? [], PROJECTS[name].wants].flat()),
);
const missing = Object.keys(found).filter((name) => !found[name]);
const projects = chosen.filter((name) => found[PROJECTS[name].needs] !== null);
const packed = projects.includes('e2e') ? pack() : null;
const { passed, failed } = projects.length > 0 ? runJest() : { passed: 0, failed: 0 };
for (const one of Object.values(found)) await one?.stop?.();
packed?.remove();

console.log();
for (const name of missing) {
  const { title, toInstall } = PROGRAMS[name];
  console.log(`Not run: the specs that need ${title}. None was found; install ${toInstall}.`);
}
if (isWhole) {
  console.log(`Not run: walks through tables of routes, models, storms and processes (*.walk.spec.ts); Express 4
(*.express.spec.ts); MariaDB or MySQL, and PostgreSQL (*.db.spec.ts); and the demo, the guides, the examples, the pages in
browsers and the npm package (*.e2e.spec.ts). npm test -- --all runs everything.`);
}
console.log(`Took ${Math.round((Date.now() - started) / 1000)} s.`);
const failures = failed + (all || process.env.CI ? missing.length : 0);
console.log(`\n${passed} passed, ${failures} failed`);
process.exit(failures > 0 || passed === 0 ? 1 : 0);

/** Looks for each program once; null for one that is missing. */
async function findAll(names) {
  const programs = [...new Set(names)];
  const results = await Promise.all(programs.map((name) => PROGRAMS[name].find()));
  return Object.fromEntries(programs.map((name, index) => [name, results[index]]));
}

function runJest() {
  const folder = mkdtempSync(join(memoryFolder(2 ** 30) ?? tmpdir(), 'latchkey-jest-'));
  const [report, tables, temporary] = ['totals.json', 'tables', 'tmp'].map((name) => join(folder, name));
  mkdirSync(tables);
  mkdirSync(temporary);
  // Database servers run as users of their own.
  chmodSync(folder, 0o711);
  const jest = spawnSync(process.execPath, ['--no-warnings', 'node_modules/jest/bin/jest.js', ...rest], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      NODE_ENV: 'test',
      LATCHKEY_SPEC_PROJECTS: projects.join(),
      LATCHKEY_SPEC_ALONE: alone ? '1' : '',
      LATCHKEY_SPEC_MEMORY: temporary,
      LATCHKEY_SPEC_PACKAGE: packed?.folder ?? '',
      LATCHKEY_SPEC_MYSQL: found.mysql?.url ?? '',
      LATCHKEY_SPEC_POSTGRES: found.postgres?.url ?? '',
      LATCHKEY_SPEC_REDIS: found.redis?.url ?? '',
      LATCHKEY_SPEC_BROWSER: found.browser?.path ?? '',
      LATCHKEY_SPEC_FIREFOX: found.firefox?.path ?? '',
      LATCHKEY_SPEC_NGINX: found.nginx?.path ?? '',
      LATCHKEY_SPEC_URLS: found.urls?.path ?? '',
      LATCHKEY_SPEC_TABLES: tables,
      LATCHKEY_SPEC_TOTALS: report,
    },
  });
  try {
    const totals = JSON.parse(readFileSync(report, 'utf8'));
    return { passed: totals.passed, failed: jest.status === 0 ? totals.failed : Math.max(totals.failed, 1) };
  } catch {
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readArguments(given) {
  const options = { all: false, only: null, alone: false, rest: [] };
  while (given.length > 0) {
    const word = given.shift();
    if (word === '--all') options.all = true;
    else if (word === '--alone') options.alone = true;
    else if (word === '--only') options.only = (given.shift() ?? '').split(',');
    else options.rest.push(word);
  }
  if (options.only?.some((name) => !Object.hasOwn(PROJECTS, name))) {
    console.error(`--only takes some of ${Object.keys(PROJECTS)}`);
    process.exit(2);
  }
  return options;
}
