// Runs the specs in rounds: on every database that can be found, and on SQLite also with Express 4.
//
//   npm test                        every available database; prints which ones are missing
//   npm test -- --all               fails if one is missing
//   npm test -- --only mysql        one round: sqlite, express4, mysql or postgres
//   npm test -- --only sqlite spec/sessions.spec.ts      other arguments are passed to Jest
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findMysql, findPostgres } from './servers.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { all, only, rest } = readArguments(process.argv.slice(2));

const rounds = {
  sqlite: { database: 'sqlite' },
  express4: { database: 'sqlite', express: '4' },
  mysql: { database: 'mysql', find: findMysql },
  postgres: { database: 'postgres', find: findPostgres },
};

const totals = { passed: 0, failed: 0 };
const missing = [];
for (const [name, round] of Object.entries(rounds)) {
  if (only && only !== name) continue;
  const server = round.find ? await round.find() : { url: '', stop: async () => {} };
  if (!server) {
    missing.push(name);
    continue;
  }
  console.log(`\n── ${name} ──`);
  const { passed, failed } = runJest(round, server.url);
  totals.passed += passed;
  totals.failed += failed;
  await server.stop();
}

for (const name of missing) {
  console.log(`Not run: the specs on ${name}. No server is running on this machine and none is installed;`);
  console.log(
    `  set ${name.toUpperCase()}_URL, or install ${name === 'mysql' ? 'mariadb-server' : 'postgresql'}.`,
  );
}
if (all) totals.failed += missing.length;
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);

function runJest({ database, express = '5' }, url) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-jest-'));
  const report = join(folder, 'report.json');
  const jest = spawnSync(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--no-warnings',
      'node_modules/jest/bin/jest.js',
      '--json',
      `--outputFile=${report}`,
      ...rest,
    ],
    {
      cwd: root,
      // With --json, Jest prints its report on standard output; the file contains the same report.
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        NODE_ENV: 'test',
        LATCHKEY_SPEC_DATABASE: database,
        LATCHKEY_SPEC_EXPRESS: express,
        LATCHKEY_SPEC_URL: url,
      },
    },
  );
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    return { passed: numPassedTests, failed: jest.status === 0 ? failed : Math.max(failed, 1) };
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
  return options;
}
