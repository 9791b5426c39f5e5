// The servers of the guarded page, and how they are measured: in rounds of one server, or side by side in short turns.
import { mkdirSync, rmSync } from 'node:fs';
import { keepAwake } from './awake.mjs';
import { statementsBetween } from './databases.mjs';
import { cores, data } from './machine.mjs';
import { median } from './numbers.mjs';
import { emailOf, hotSessions, hotUsers, userOf } from './people.mjs';
import { cpuMs, cpuMsOfTrees, residentMb, startServer, untilIdle } from './processes.mjs';
import { undisturbed } from './quiet.mjs';
import {
  seedAuthJs,
  seedBetterAuth,
  seedExpressSession,
  seedLatchkey,
  seedRedis,
  withCookieCache,
} from './seeds.mjs';
import { headerFile, leadIn, wrk } from './wrk.mjs';

/**
 * @typedef {object} Candidate a server to be measured
 * @property {string} name for the flag `--server`
 * @property {string} label for the table
 * @property {string} file
 * @property {Record<string, string>} env
 * @property {{ lines: readonly string[], unknown: string } | null} credentials the headers to send, and one that nobody
 *   has; null if there is no guard
 * @property {string} email of the user whose credential the first line is
 * @property {{ page?: boolean, missing?: boolean, unknown?: boolean }} [checks] whether the page must be the user's, and be
 *   refused without a credential and with an unknown one; by default all of them
 */

/** The servers of the guarded page on MySQL, each with where its sessions are. */
const PEERS = [
  ['better-auth', 'better-auth', 'better-auth'],
  ['better-auth-joins', 'better-auth with joins', 'better-auth'],
  ['better-auth-cookie-cache', 'better-auth with its cookie cache (stale for minutes)', 'better-auth'],
  ['express-session-sequelize', 'express-session + connect-session-sequelize + passport', 'express-session'],
  ['express-session-redis', 'express-session + connect-redis + passport', 'express-session'],
  ['auth-js', '@auth/express with database sessions', 'auth-js'],
];

/**
 * Seeds the databases that the chosen servers need, and describes these servers.
 *
 * @param {'mysql' | 'postgres' | 'sqlite'} dialect
 * @param {{ size: import('./people.mjs').Size, names: readonly string[] | null, databases:
 *   import('./databases.mjs').Databases, log: (line: string) => void }} options `names` are the beginnings of the names of
 *   servers to be measured; the rest is left out. Null for all
 * @returns {Promise<Candidate[]>}
 */
export async function candidates(dialect, { size, names, databases, log }) {
  const isWanted = (name) => !names || names.some((one) => name.startsWith(one));
  const email = emailOf(userOf(hotSessions(size)[0], size));
  const fresh = (name) => newDatabase(dialect, name, databases);
  const found = [];
  const add = (name, label, more) => {
    if (isWanted(name)) found.push({ name, label, env: {}, email, ...more });
  };
  add('bare', 'bare Express, constant JSON', { file: 'servers/bare.mjs', credentials: null });

  if (
    [
      'hand-written',
      'latchkey-cookie',
      'latchkey-member',
      'latchkey-instance',
      'latchkey-bearer',
      'latchkey-api-key',
    ].some(isWanted)
  ) {
    log(`seeding latchkey on ${dialect}`);
    const url = await fresh('latchkey');
    const credentials = await seedLatchkey(url, size);
    const ours = { file: 'servers/latchkey.mjs', env: { BENCH_URL: url } };
    add('hand-written', HAND_WRITTEN[dialect], {
      ...ours,
      file: 'servers/hand-written.mjs',
      credentials: credentials.cookie,
    });
    add('latchkey-cookie', 'latchkey by cookie', { ...ours, credentials: credentials.cookie });
    add('latchkey-member', 'latchkey by cookie, for members of an organization', {
      ...ours,
      env: { ...ours.env, BENCH_MEMBER: 'yes' },
      credentials: credentials.cookie,
    });
    add('latchkey-instance', 'latchkey by cookie, on a Sequelize instance of the app', {
      ...ours,
      env: { ...ours.env, BENCH_INSTANCE: 'yes' },
      credentials: credentials.cookie,
    });
    if (dialect !== 'mysql') return found;
    add('latchkey-bearer', 'latchkey by bearer token', { ...ours, credentials: credentials.bearer });
    add('latchkey-api-key', 'latchkey by API key', {
      ...ours,
      credentials: credentials.apiKey,
      email: emailOf(hotUsers(size)[0]),
    });
  }
  const peers = dialect === 'mysql' ? PEERS.filter(([name]) => isWanted(name)) : [];
  const needs = (database) => peers.some(([, , where]) => where === database);
  if (needs('better-auth')) {
    log('seeding better-auth');
    const url = await fresh('better_auth');
    const credentials = await seedBetterAuth(url, size);
    const cached = isWanted('better-auth-cookie-cache') ? await withCookieCache(url, credentials) : null;
    for (const [mode, suffix] of [
      ['plain', ''],
      ['joins', '-joins'],
      ['cookie-cache', '-cookie-cache'],
    ]) {
      add(`better-auth${suffix}`, labelOf(`better-auth${suffix}`), {
        file: 'servers/better-auth.mjs',
        env: { BENCH_URL: url, BENCH_MODE: mode },
        credentials: mode === 'cookie-cache' ? cached : credentials,
      });
    }
  }
  if (needs('express-session')) {
    log('seeding express-session');
    const url = await fresh('express_session');
    const credentials = await seedExpressSession(url, size);
    const file = 'servers/express-session.mjs';
    const name = 'express-session-sequelize';
    add(name, labelOf(name), { file, env: { BENCH_URL: url }, credentials });
    if (isWanted('express-session-redis')) {
      const redis = (await databases.get('redis')).url();
      await seedRedis(redis, size);
      const env = { BENCH_URL: url, BENCH_REDIS: redis };
      add('express-session-redis', labelOf('express-session-redis'), { file, env, credentials });
    }
  }
  if (needs('auth-js')) {
    log('seeding Auth.js');
    const url = await fresh('auth_js');
    const credentials = await seedAuthJs(url, size);
    add('auth-js', labelOf('auth-js'), {
      file: 'servers/auth-js.mjs',
      env: { BENCH_URL: url },
      credentials,
    });
  }
  return found;
}

const HAND_WRITTEN = {
  mysql: 'hand-written, a prepared SELECT by mysql2',
  postgres: 'hand-written, a named statement by pg',
  sqlite: "hand-written, a prepared statement of Node's SQLite or its copy",
};

function labelOf(name) {
  return PEERS.find(([one]) => one === name)[1];
}

/** Creates an empty database. @returns {Promise<string>} its URL */
export async function newDatabase(dialect, name, databases) {
  if (dialect === 'sqlite') {
    mkdirSync(data, { recursive: true });
    const path = `${data}/${name}.db`;
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    return `sqlite:${path}`;
  }
  const server = await databases.get(dialect);
  await server.createDatabase(name);
  return server.url(name);
}

/**
 * @typedef {object} Measured what a round or a turn of a server has shown
 * @property {number} perSecond
 * @property {number} cpu of the server, milliseconds a request
 * @property {number} databaseCpu of its databases, milliseconds a request
 * @property {number} busy the share of the time that the server's process worked
 * @property {number} selects statements a request
 * @property {number} writes statements a request
 * @property {number} memory megabytes
 * @property {number} p50 milliseconds
 * @property {number} p99 milliseconds
 * @property {number} bad responses that were no 200
 * @property {number} [aloneP50] milliseconds, with one connection
 * @property {number} [aloneCpu] milliseconds a request, with one connection
 * @property {number} others the share of a core that other processes used meanwhile
 * @property {boolean} disturbed whether that was too much
 */

/**
 * Starts a server, checks its page, warms it up, and measures it on a quiet machine.
 *
 * @param {Candidate} candidate
 * @param {{ connections: number, seconds: number, warmUp: number, alone?: number, patient: boolean, databases:
 *   import('./databases.mjs').Databases, log?: (line: string) => void }} options `alone`: seconds for which it is measured with one connection too
 * @returns {Promise<Measured>}
 */
async function measureRound(candidate, options) {
  const { alone = 0, patient, databases, log } = options;
  const warm = await warmedUp(candidate, options);
  try {
    const { server, url, headers } = warm;
    const pids = (await databases.running()).map(({ pid }) => pid);
    return await undisturbed(
      async () => ({
        ...(await measureLoad(warm, options)),
        ...(alone > 0 && (await measureAlone(server.pid, url, headers, alone))),
      }),
      [server.pid, ...pids],
      { patient, log },
    );
  } finally {
    await warm.server.stop('SIGKILL');
  }
}

/** Starts a server, checks its page, and warms it up. */
async function warmedUp(candidate, { connections, warmUp }) {
  const server = await startServer(candidate.file, candidate.env);
  try {
    const url = `${server.url}/me`;
    await checkPage(url, candidate);
    const headers = candidate.credentials ? headerFile(candidate.name, candidate.credentials.lines) : '-';
    // Code that has run seldom is not optimized yet, and one connection would take minutes to run it often. But alone, a
    // request may take another way.
    for (const each of new Set([50, connections])) {
      await wrk(url, { connections: each, seconds: warmUp, headers });
    }
    await untilIdle(server.pid);
    return { server, url, headers };
  } catch (error) {
    await server.stop('SIGKILL');
    throw error;
  }
}

async function measureLoad({ server, url, headers }, { connections, seconds, databases }) {
  const running = await databases.running();
  const pids = running.map(({ pid }) => pid);
  const before = await countStatements(running);
  const [cpu, databaseCpu] = [cpuMs(server.pid), cpuMsOfTrees(pids)];
  const load = await wrk(url, { connections, seconds, headers });
  const busyMs = cpuMs(server.pid) - cpu;
  // The server still answers the last request of each connection, for which wrk does not wait.
  await untilIdle(server.pid);
  const sent = load.requests + connections;
  const { selects, writes } = statementsBetween(before, await countStatements(running));
  return {
    perSecond: load.perSecond,
    cpu: (cpuMs(server.pid) - cpu) / sent,
    databaseCpu: (cpuMsOfTrees(pids) - databaseCpu) / sent,
    busy: busyMs / (load.seconds * 1000),
    selects: selects / sent,
    writes: writes / sent,
    memory: residentMb(server.pid),
    p50: load.p50,
    p99: load.p99,
    bad: load.errors + load.refused,
  };
}

async function measureAlone(pid, url, headers, seconds) {
  const cpu = cpuMs(pid);
  const load = await wrk(url, { connections: 1, seconds, headers });
  return { aloneP50: load.p50, aloneCpu: (cpuMs(pid) - cpu) / load.requests };
}

/** @throws Error if the page is not the user's, or opens without a credential or with one that nobody has */
async function checkPage(url, { name, credentials, email, checks = {} }) {
  const get = async (line) => {
    const [header, value] = line?.split(/: (.*)/) ?? [];
    const response = await fetch(url, line ? { headers: { [header]: value } } : {});
    return { status: response.status, body: await response.text() };
  };
  const { status, body } = await get(credentials?.lines[0]);
  if (status !== 200) throw new Error(`${name} answers ${status}: ${body}`);
  if (!credentials) return;
  const { page = true, missing = true, unknown = true } = checks;
  const { user, session } = JSON.parse(body);
  const isTheirs = user?.email === email && session?.userId === user.id && session.id && session.createdAt;
  if (page && !isTheirs) throw new Error(`${name} does not show the page of ${email}: ${body}`);
  for (const line of [...(missing ? [undefined] : []), ...(unknown ? [credentials.unknown] : [])]) {
    const refused = await get(line);
    if (refused.status !== 401)
      throw new Error(`${name} answers ${refused.status} to ${line ?? 'no credential'}`);
  }
}

async function countStatements(servers) {
  const counts = await Promise.all(servers.map((server) => server.statements()));
  const sum = { selects: 0, writes: 0 };
  for (const { selects, writes } of counts) {
    sum.selects += selects;
    sum.writes += writes;
  }
  return sum;
}

/**
 * Measures several servers in interleaved rounds: A B C, A B C.
 *
 * @param {readonly Candidate[]} all
 * @param {Parameters<typeof measureRound>[1] & { rounds: number, log: (line: string) => void }} options
 * @returns {Promise<Map<string, Measured[]>>} the rounds of each server, by name
 */
export async function interleaved(all, { rounds, log, ...options }) {
  const results = new Map(all.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const candidate of all) {
      const one = await measureRound(candidate, { ...options, log });
      results.get(candidate.name).push(one);
      log(`${round}/${rounds} ${summary(candidate.name, [one])}`);
    }
  }
  return results;
}

/**
 * Measures servers that run side by side, in short turns: A B C, C B A. A machine's speed hardly changes from one turn to
 * the next, so the ratios of paired turns vary less than those of whole rounds. Each round has new processes, because Node
 * does not optimize the same code in the same way each time. A server is stopped while it is not its turn.
 *
 * @param {readonly Candidate[]} all
 * @param {Parameters<typeof measureRound>[1] & { rounds: number, turns: number, awake?: readonly boolean[], log: (line:
 *   string) => void }} options `turns`: how many times each server is measured in a round; `awake`: once with each of these,
 *   and with true, the cores cannot sleep meanwhile
 * @returns {Promise<Map<string, (Measured & { isAwake: boolean })[]>>} the turns of each server, by name. Turns with the same
 *   index are paired
 */
export async function alternating(all, { rounds, turns, awake = [false], log, ...options }) {
  const results = new Map(all.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    const warm = [];
    const loops = keepAwake(awake.includes(true) ? cores : []);
    try {
      loops.pause();
      for (const candidate of all) {
        const one = await warmedUp(candidate, options);
        warm.push({ name: candidate.name, ...one });
        process.kill(one.server.pid, 'SIGSTOP');
      }
      const databases = await options.databases.running();
      const pids = [...warm.map(({ server }) => server), ...databases].map(({ pid }) => pid);
      const { measured, others, disturbed } = await undisturbed(
        async () => {
          const measured = [];
          for (let turn = 0; turn < turns; turn++)
            for (const isAwake of awake) {
              if (isAwake) loops.resume();
              else loops.pause();
              for (const one of turn % 2 ? warm.toReversed() : warm)
                measured.push([one.name, { ...(await measureTurn(one, options)), isAwake }]);
            }
          return { measured };
        },
        pids,
        { patient: options.patient, log },
      );
      for (const [name, numbers] of measured) results.get(name).push({ ...numbers, others, disturbed });
      for (const { name } of all) {
        const ofRound = results.get(name).slice(-turns * awake.length);
        log(`${round}/${rounds} ${summary(name, ofRound)}`);
      }
    } finally {
      await loops.stop();
      for (const { server } of warm) await server.stop('SIGKILL');
    }
  }
  return results;
}

/** Measures a server that is stopped meanwhile, so that its timers and its garbage collector take no time from others. */
async function measureTurn(warm, options) {
  const { server, url, headers } = warm;
  process.kill(server.pid, 'SIGCONT');
  // By now, pools have closed connections that were idle, and the processor's caches hold other code.
  await leadIn(url, { ...options, headers });
  await untilIdle(server.pid);
  const numbers = await measureLoad(warm, options);
  process.kill(server.pid, 'SIGSTOP');
  return numbers;
}

/** A line about what a server has shown in a round. */
function summary(name, measured) {
  const of = (key) => measured.map((one) => one[key]);
  const bad = of('bad').reduce((sum, one) => sum + one);
  return [
    `${name.padEnd(26)} ${median(of('perSecond')).toFixed(0).padStart(6)} a second`,
    `${median(of('cpu')).toFixed(3)} ms`,
    `${(Math.max(...of('others')) * 100).toFixed(0)} % others`,
    ...(of('disturbed').includes(true) ? ['disturbed'] : []),
    ...(bad > 0 ? [`${bad} bad responses`] : []),
  ].join(', ');
}

/** A sentence about the turns that others disturbed; an empty string if there are none. */
export function disturbance(results, where) {
  const [turns] = results.values();
  const count = turns.filter(({ disturbed }) => disturbed).length;
  return count > 0
    ? `On ${where}, other processes disturbed ${count} of the ${turns.length} turns of each server.`
    : '';
}
