// How long a new process takes until it has its library, and what an installation brings.
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bench, root } from '../support/machine.mjs';
import { fixed, goal, median, spread, table } from '../support/numbers.mjs';
import { undisturbed } from '../support/quiet.mjs';

export const title = 'Start, and what is installed';

const ROUNDS = 21;
const GOAL_MS = 50;

const SECRET = "'a secret for the bench, of 32 bytes and more'";

// Nothing connects: a pool opens its first connection with its first query.
const BASE = {
  mjs: `import 'express';
import { Sequelize } from 'sequelize';
import 'mysql2';
const sequelize = new Sequelize('mysql://root@127.0.0.1:1/none', { logging: false });`,
  cjs: `require('express');
const { Sequelize } = require('sequelize');
require('mysql2');
const sequelize = new Sequelize('mysql://root@127.0.0.1:1/none', { logging: false });`,
};

const MAKE_AUTH = `createAuth({ database: sequelize, secret: ${SECRET}, plugins: [credentialPassword()] });`;

/** @type {readonly { name: string, installs: 'base' | 'latchkey' | 'better-auth', file: string, over?: string, code: string }[]} */
const STARTS = [
  { name: 'express + sequelize + mysql2', installs: 'base', file: 'base.mjs', code: BASE.mjs },
  {
    name: '+ latchkey',
    installs: 'latchkey',
    file: 'auth.mjs',
    over: 'base.mjs',
    code: `${BASE.mjs}
import { createAuth, credentialPassword } from 'latchkey';
${MAKE_AUTH}`,
  },
  {
    name: '+ latchkey, its router, and a guard',
    installs: 'latchkey',
    file: 'router.mjs',
    over: 'base.mjs',
    code: `${BASE.mjs}
import { authRouter, createAuth, credentialPassword, requireSession } from 'latchkey';
const auth = ${MAKE_AUTH}
authRouter(auth);
requireSession(auth);`,
  },
  {
    name: '+ better-auth',
    installs: 'better-auth',
    file: 'better-auth.mjs',
    over: 'base.mjs',
    code: `${BASE.mjs}
import { betterAuth } from 'better-auth';
import { createPool } from 'mysql2/promise';
const auth = betterAuth({
  baseURL: 'http://127.0.0.1:3000',
  secret: ${SECRET},
  database: createPool('mysql://root@127.0.0.1:1/none'),
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
});
await auth.$context;`,
  },
  { name: 'express + sequelize + mysql2, by `require`', installs: 'base', file: 'base.cjs', code: BASE.cjs },
  {
    name: '+ latchkey, by `require`',
    installs: 'latchkey',
    file: 'auth.cjs',
    over: 'base.cjs',
    code: `${BASE.cjs}
const { createAuth, credentialPassword } = require('latchkey');
${MAKE_AUTH}`,
  },
];

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, log }) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-start-'));
  try {
    const installed = installAll(folder, log);
    for (const { installs, file, code } of STARTS)
      writeFileSync(join(folder, installs, file), `${code}\n${PRINT}`);
    const rounds = [];
    // The first round reads files that are not in memory yet.
    for (let round = -1; round < (quick ? 2 : ROUNDS); round++) {
      const outcome = await undisturbed(async () => ({ starts: startAll(folder) }), [], { patient: !quick });
      if (round >= 0) rounds.push(outcome);
    }
    const disturbed = rounds.filter((one) => one.disturbed).length;
    return report(
      rounds.map(({ starts }) => starts),
      installed,
      disturbed,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Since the process began, without what it does to end.
const PRINT = `{
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  console.log(JSON.stringify({ ms: performance.now(), cpu: (userCPUTime + systemCPUTime) / 1000 }));
  process.exit();
}`;

/** One new process of each. */
function startAll(folder) {
  return Object.fromEntries(
    STARTS.map(({ installs, file }) => {
      const options = { cwd: join(folder, installs), encoding: 'utf8' };
      return [file, JSON.parse(execFileSync(process.execPath, [file], options))];
    }),
  );
}

function installAll(folder, log) {
  const { dependencies } = JSON.parse(readFileSync(`${bench}package.json`, 'utf8'));
  const exact = (name) => `${name}@${dependencies[name]}`;
  const base = ['express', 'sequelize', 'mysql2'].map(exact);
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[')));
  const wanted = {
    base,
    latchkey: [...base, join(folder, filename)],
    'better-auth': [...base, exact('better-auth')],
  };
  return Object.fromEntries(
    Object.entries(wanted).map(([name, packages]) => {
      log(`npm install ${packages.join(' ')}`);
      const cwd = join(folder, name);
      mkdirSync(cwd);
      writeFileSync(join(cwd, 'package.json'), '{ "private": true }');
      execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
        cwd,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      return [name, sizeOf(cwd)];
    }),
  );
}

/** The packages that npm has installed, and the bytes of their files. */
function sizeOf(cwd) {
  const { packages } = JSON.parse(readFileSync(join(cwd, 'node_modules/.package-lock.json'), 'utf8'));
  return { packages: Object.keys(packages).length, bytes: bytesIn(join(cwd, 'node_modules')) };
}

function bytesIn(path) {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

function report(rounds, installed, disturbed) {
  const times = STARTS.map(({ name, file, over }) => {
    const ms = rounds.map((round) => round[file].ms);
    const cpu = rounds.map((round) => round[file].cpu);
    const added = over ? rounds.map((round) => round[file].ms - round[over].ms) : null;
    const addedCpu = over ? rounds.map((round) => round[file].cpu - round[over].cpu) : null;
    return { name, file, ms, cpu, added, addedCpu };
  });
  const addedBy = (file) => median(times.find((one) => one.file === file).added);
  const mb = (bytes) => fixed(bytes / 1e6, 1);
  const without = installed.base;
  return `${table(
    ['a new process', 'ready after ms', 'lowest–highest', 'adds ms', 'CPU ms', 'adds CPU ms'],
    times.map(({ name, ms, cpu, added, addedCpu }) => [
      name,
      fixed(median(ms)),
      spread(ms),
      added ? fixed(median(added)) : '',
      fixed(median(cpu)),
      addedCpu ? fixed(median(addedCpu)) : '',
    ]),
  )}

Medians of ${rounds.length} interleaved rounds of new processes${disturbed ? `, of which ${disturbed} were disturbed by others` : ''}. What a
library adds is the median of the differences in each round. A Sequelize instance is made in all of them, and nothing connects.

${goal('latchkey adds, by `import`', addedBy('auth.mjs'), 'at most', GOAL_MS, 0)}
${goal('latchkey adds, by `require`', addedBy('auth.cjs'), 'at most', GOAL_MS, 0)}

${table(
  ['`npm install` of', 'packages', 'MB', 'adds packages', 'adds MB'],
  Object.entries(installed).map(([name, { packages, bytes }]) => [
    name === 'base' ? 'express, sequelize, mysql2' : `the same and ${name}`,
    packages,
    mb(bytes),
    name === 'base' ? '' : packages - without.packages,
    name === 'base' ? '' : mb(bytes - without.bytes),
  ]),
)}`;
}
