// latchkey on a Galera cluster of three nodes, with an app for each: node bench/galera.mjs. Prints what
// contributing/galera.md quotes.
// --only reads,conflicts,kill,price runs some of it, --quick all of it in short, --no-build uses the last build.
import { randomBytes, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { startCluster } from './galera/nodes.mjs';
import { installLatchkey } from './support/latchkey.mjs';
import { commit, machine } from './support/machine.mjs';
import { fixed, median, spread, table } from './support/numbers.mjs';
import { cpuMs, sleep, startServer } from './support/processes.mjs';
import { untilQuiet } from './support/quiet.mjs';
import { headerFile, wrk } from './support/wrk.mjs';

const PARTS = { reads, conflicts, kill, price };
const PASSWORD = 'an analytical engine';
// SELECT; and with it UPDATE, DELETE and INSERT.
const SYNC_READS = 1;
const SYNC_ALL = 7;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(PARTS).join(',') },
    quick: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
  },
});
const unknown = flags.only.split(',').filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`--only: there is no ${unknown.join(', ')}. There are ${Object.keys(PARTS).join(', ')}.`);
  process.exit(2);
}
// Each server that it starts is one.
process.setMaxListeners(50);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
if (!flags['no-build']) installLatchkey();

const cluster = await startCluster();
const { nodes } = cluster;
const [first] = nodes;
const { cpu, cores, memoryGb, node } = machine();
console.log(`${cluster.version}, three nodes; ${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node}`);
console.log(`commit ${commit()}, ${new Date().toISOString().slice(0, 10)}\n`);
try {
  for (const name of flags.only.split(',')) {
    await first.query('DROP DATABASE IF EXISTS latchkey');
    await first.query('CREATE DATABASE latchkey CHARACTER SET utf8mb4');
    console.log(`${await PARTS[name]()}\n`);
  }
} finally {
  await cluster.stop();
}

/** Starts an app for each node, which prefers that node. */
async function startApps({ syncWait = SYNC_ALL, limits = false } = {}) {
  const apps = [];
  // One after the other, since the first one migrates.
  for (const [index] of nodes.entries()) {
    const ports = [...nodes.slice(index), ...nodes.slice(0, index)].map(({ port }) => port);
    const settings = { PORTS: ports.join(), SYNC_WAIT: String(syncWait), LIMITS: JSON.stringify(limits) };
    // Not in production, which refuses fast password hashes: the database is measured here.
    const env = { NODE_ENV: 'test', ...settings };
    apps.push(clientOf(await startServer('servers/galera.mjs', env)));
  }
  return { apps, stop: () => Promise.all(apps.map(({ server }) => server.stop('SIGKILL'))) };
}

/** What a client does at one app. Each answers with the status, and a token where there is one. */
function clientOf(server) {
  const send = async (method, path, { token, body } = {}) => {
    const response = await fetch(server.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...(token && { cookie: `latchkey=${token}` }) },
      body: body && JSON.stringify(body),
    });
    await response.arrayBuffer();
    const issued = /latchkey=([^;]+)/.exec(response.headers.getSetCookie().find(isOfSession) ?? '')?.[1];
    return { status: response.status, token: issued };
  };
  return {
    server,
    signUp: (email) => send('POST', '/auth/signup/credential', { body: { email, password: PASSWORD } }),
    signIn: (credential, password = PASSWORD) =>
      send('POST', '/auth/signin/credential', { body: { credential, password } }),
    signOut: (token) => send('POST', '/auth/signout', { token }),
    revokeAll: (token) => send('POST', '/auth/revoke-sessions', { token }),
    guarded: (token) => send('GET', '/guarded', { token }),
    changePassword: (token, from, to) =>
      send('POST', '/auth/passwords/change', {
        token,
        body: { current_password: from, new_password: to },
      }),
    removePasskey: (userId, id) => send('POST', `/remove-passkey/${userId}/${id}`),
  };
}

function isOfSession(cookie) {
  return cookie.startsWith('latchkey=');
}

function times(count, make) {
  return Array.from({ length: count }, (_, index) => make(index));
}

function all(count, work) {
  return Promise.all(times(count, work));
}

function newEmail() {
  return `${randomBytes(8).toString('hex')}@example.com`;
}

/** How many answers have each status, such as `200: 3, 503: 1`. */
function statuses(answers) {
  const counts = new Map();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${fixed(count)}`)
    .join(', ');
}

function expectStatus(answer, status, what) {
  if (answer.status !== status) throw new Error(`${what}: ${answer.status}`);
  return answer;
}

/** Whether a session holds on all nodes as soon as it begins, and on none as soon as it is revoked. */
async function reads() {
  const tries = flags.quick ? 60 : 1500;
  const rows = [];
  for (const syncWait of [0, SYNC_READS, SYNC_ALL]) {
    const { apps, stop } = await startApps({ syncWait });
    const emails = await all(6, async (index) => {
      const email = newEmail();
      expectStatus(await apps[index % 3].signUp(email), 201, 'sign-up');
      return email;
    });
    for (const isBusy of [false, true]) {
      const load = isBusy ? startWrites(300, 5) : null;
      const counts = { late: 0, stale: 0, checks: 0 };
      await all(emails.length, async (client) => {
        for (let round = 0; round < tries / emails.length; round++) {
          const [here, ...others] = [0, 1, 2].map((offset) => apps[(client + round + offset) % 3]);
          const { token } = expectStatus(await here.signIn(emails[client]), 200, 'sign-in');
          const seen = await Promise.all(others.map((app) => app.guarded(token)));
          const end = round % 2 === 0 ? here.signOut : here.revokeAll;
          // Refused if a connection of the app has gone to another node, which it does when its own is slow.
          const { status } = await end(token);
          counts.late += seen.filter((answer) => answer.status !== 200).length + (status === 401 ? 1 : 0);
          counts.checks += others.length;
          if (status === 401) continue;
          if (status !== 200 && status !== 204) throw new Error(`revocation: ${status}`);
          const after = await Promise.all(others.map((app) => app.guarded(token)));
          counts.stale += after.filter((answer) => answer.status !== 401).length;
        }
      });
      await load?.stop();
      rows.push([
        syncWait,
        isBusy ? 'writes' : 'none',
        ...['checks', 'late', 'stale'].map((key) => fixed(counts[key])),
      ]);
    }
    await stop();
  }
  return `### A revocation on one node, at once on the other two\n\n${table(
    ['`wsrep_sync_wait`', 'other load', 'checks', 'new session refused', 'revoked session accepted'],
    rows,
  )}`;
}

/** Other writes of the app, which the nodes apply late: `rows` at once, with a pause in between. */
function startWrites(rows, pauseMs) {
  let isStopped = false;
  const write = async () => {
    for (; !isStopped; await sleep(pauseMs)) {
      const values = times(rows, () => [randomUUID(), 'x'.repeat(200)]);
      await first.query('INSERT INTO latchkey.busy VALUES ?', [values]).catch((error) => {
        if (error.errno !== 1213) throw error;
      });
    }
  };
  const done = (async () => {
    await first.query('CREATE TABLE IF NOT EXISTS latchkey.busy (id CHAR(36) PRIMARY KEY, text TEXT)');
    await write();
  })();
  return {
    async stop() {
      isStopped = true;
      await done;
    },
  };
}

/** What is done to one account on all nodes at once. */
async function conflicts() {
  const rounds = flags.quick ? 3 : 40;
  const before = await conflictCounts();
  const lines = [
    await manyTimes(rounds, 'wrong passwords, with a limit of 5', limitsHold),
    await manyTimes(rounds, 'correct passwords', signInsHold),
    await manyTimes(rounds, 'password changes', changesHold),
    await manyTimes(rounds, 'revoke-all, beside sign-ins', revocationsHold),
    await manyTimes(rounds, 'removal of the last two passkeys', lastWayHolds),
  ];
  const after = await conflictCounts();
  return [
    '### Conflicts: the same account on all nodes at once',
    table(['at once', 'rounds', 'answers', 'rounds that broke the rule'], lines),
    `Transactions that a node aborted in favor of another's: ${fixed(after - before)}.`,
  ].join('\n\n');
}

async function conflictCounts() {
  let sum = 0;
  for (const { query } of nodes) {
    const rows = await query(
      "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_cert_failures', 'wsrep_local_bf_aborts')",
    );
    for (const { Value } of rows) sum += Number(Value);
  }
  return sum;
}

async function manyTimes(rounds, name, rule) {
  const limits = rule === limitsHold && { signIn: false, signUp: false };
  const { apps, stop } = await startApps({ limits });
  const answers = [];
  let broken = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const email = newEmail();
      expectStatus(await apps[0].signUp(email), 201, 'sign-up');
      const outcome = await rule(apps, email);
      answers.push(...outcome.answers);
      if (outcome.holds) continue;
      broken++;
      process.exitCode = 1;
    }
  } finally {
    await stop();
  }
  return [name, rounds, statuses(answers), broken];
}

/** Five attempts, however many nodes count them. */
async function limitsHold(apps, email) {
  const answers = await all(24, (index) => apps[index % 3].signIn(email, 'wrong'));
  return { answers, holds: answers.filter(({ status }) => status === 401).length === 5 };
}

/** All of them succeed, and each session holds everywhere. */
async function signInsHold(apps, email) {
  const answers = await all(12, (index) => apps[index % 3].signIn(email));
  const tokens = answers.flatMap(({ token }) => token ?? []);
  const found = await Promise.all(apps.flatMap((app) => tokens.map((token) => app.guarded(token))));
  return { answers, holds: tokens.length === 12 && found.every(({ status }) => status === 200) };
}

/** One of them succeeds; its new token holds everywhere, and the old one nowhere. */
async function changesHold(apps, email) {
  const { token } = expectStatus(await apps[0].signIn(email), 200, 'sign-in');
  const answers = await all(3, (index) =>
    apps[index].changePassword(token, PASSWORD, `${PASSWORD} ${index}`),
  );
  const winners = answers.filter(({ status }) => status === 200);
  const old = await Promise.all(apps.map((app) => app.guarded(token)));
  const renewed = await Promise.all(apps.map((app) => app.guarded(winners[0]?.token ?? '')));
  const isOne = winners.length === 1 && renewed.every(({ status }) => status === 200);
  return { answers, holds: isOne && old.every(({ status }) => status === 401) };
}

/** No session that began before them is left. */
async function revocationsHold(apps, email) {
  const earlier = await all(3, (index) => apps[index].signIn(email));
  const signingIn = all(6, (index) => apps[index % 3].signIn(email));
  const answers = await all(3, (index) => apps[index].revokeAll(earlier[index].token));
  const isRevoked = answers.some(({ status }) => status === 200);
  const tokens = earlier.map(({ token }) => token);
  const left = await Promise.all(apps.flatMap((app) => tokens.map((token) => app.guarded(token))));
  answers.push(...(await signingIn));
  return { answers, holds: isRevoked && left.every(({ status }) => status === 401) };
}

/** One of them stays. */
async function lastWayHolds(apps, email) {
  const [{ id: userId }] = await first.query('SELECT id FROM latchkey.users WHERE email = ?', [email]);
  await first.query('UPDATE latchkey.users SET password_hash = NULL WHERE id = ?', [userId]);
  const ids = times(2, () => randomUUID());
  for (const id of ids) {
    await first.query('INSERT INTO latchkey.passkeys SET ?', {
      ...{ id, user_id: userId, name: 'a key', created_at: new Date(), device_type: 'multiDevice' },
      ...{ backed_up: true, transports: '', credential_id: id, credential_hash: randomBytes(32) },
      ...{ public_key: 'a key', user_handle: randomUUID(), counter: 0 },
    });
  }
  const answers = await Promise.all(ids.map((id, index) => apps[index].removePasskey(userId, id)));
  await first.query('SET SESSION wsrep_sync_wait = 7');
  const left = await first.query('SELECT id FROM latchkey.passkeys WHERE user_id = ?', [userId]);
  return { answers, holds: left.length === 1 };
}

/** A node is killed while all apps write. */
async function kill() {
  const seconds = flags.quick ? 3 : 10;
  const { apps, stop } = await startApps();
  const log = [];
  const accounts = [];
  let isStopped = false;
  const note = async (app, what, request) => {
    const started = performance.now();
    const { status, token } = await request.catch(() => ({ status: 'no answer' }));
    log.push({ app, what, status, started, ended: performance.now() });
    return { status, token };
  };
  const write = async (index) => {
    const app = apps[index];
    while (!isStopped) {
      const account = { email: newEmail(), kept: [], ended: [] };
      if ((await note(index, 'sign-up', app.signUp(account.email))).status !== 201) continue;
      accounts.push(account);
      for (let round = 0; round < 3 && !isStopped; round++) {
        const { token } = await note(index, 'sign-in', app.signIn(account.email));
        if (!token) continue;
        if (round !== 1) account.kept.push(token);
        else if ((await note(index, 'sign-out', app.signOut(token))).status === 204)
          account.ended.push(token);
      }
    }
  };
  const writing = all(12, (index) => write(index % 3));
  await sleep(seconds * 1000);
  const killedAt = performance.now();
  await first.kill();
  await sleep((seconds + 10) * 1000);
  isStopped = true;
  await writing;

  const lost = { accounts: 0, sessions: 0, revocations: 0 };
  const check = async (app, node) => {
    const stored = await node.query('SELECT email FROM latchkey.users');
    const emails = new Set(stored.map(({ email }) => email));
    for (const { email, kept, ended } of accounts) {
      if (!emails.has(email)) lost.accounts++;
      for (const { status } of await Promise.all(kept.map((token) => app.guarded(token))))
        if (status !== 200) lost.sessions++;
      for (const { status } of await Promise.all(ended.map((token) => app.guarded(token))))
        if (status !== 401) lost.revocations++;
    }
  };
  await check(apps[1], nodes[1]);
  await check(apps[2], nodes[2]);
  const unexpected = log.filter(({ status }) => ![200, 201, 204].includes(status));
  const rows = apps.map((_, index) => {
    const here = log.filter(({ app }) => app === index);
    const good = here.filter((one) => !unexpected.includes(one));
    const pauseMs = longestPause(good.map(({ ended }) => ended).filter((time) => time > killedAt - 500));
    return [
      index === 0 ? 'killed' : 'alive',
      fixed(good.filter(({ ended }) => ended < killedAt).length),
      fixed(good.filter(({ started }) => started > killedAt).length),
      statuses(here.filter((one) => unexpected.includes(one))) || 'none',
      fixed(pauseMs / 1000, 1),
    ];
  });
  await stop();
  const restarted = performance.now();
  await first.restart();
  const backS = (performance.now() - restarted) / 1000;
  const counts = await Promise.all(
    nodes.map(({ query }) => query('SELECT count(*) AS n FROM latchkey.sessions')),
  );
  const isWhole = counts.every(([{ n }]) => n === counts[0][0].n);
  const sum = (of) => fixed(accounts.reduce((total, account) => total + of(account), 0));
  return [
    '### A node is killed (SIGKILL) while all apps write',
    table(
      [
        'the node that the app prefers',
        'answered before',
        'answered after',
        'other answers',
        'longest pause (s)',
      ],
      rows,
    ),
    `Answered with success: ${sum(() => 1)} accounts, ${sum(({ kept }) => kept.length)} sessions, ${sum(({ ended }) => ended.length)} revocations. ` +
      `Lost on the two other nodes: ${lost.accounts} accounts, ${lost.sessions} sessions, ${lost.revocations} revocations. ` +
      `The killed node was back after ${fixed(backS, 1)} s, with ${isWhole ? 'all' : 'NOT all'} rows.`,
  ].join('\n\n');
}

function longestPause(ends) {
  const sorted = [...ends].sort((a, b) => a - b);
  return Math.max(...sorted.map((time, index) => time - (sorted[index - 1] ?? time)));
}

/** Guarded requests with and without causal reads. */
async function price() {
  const rounds = flags.quick ? 1 : 5;
  // A guarded request only reads, so SYNC_READS would cost the same.
  const settings = [0, SYNC_ALL];
  const running = [];
  for (const syncWait of settings) running.push(await startApps({ syncWait }));
  const [app] = running[0].apps;
  const tokens = [];
  for (let count = 0; count < 200; count++) {
    const email = newEmail();
    expectStatus(await app.signUp(email), 201, 'sign-up');
    tokens.push(expectStatus(await app.signIn(email), 200, 'sign-in').token);
  }
  const headers = headerFile(
    'galera',
    tokens.map((token) => `Cookie: latchkey=${token}`),
  );
  const rows = [];
  for (const [connections, isBusy] of [
    [50, false],
    [50, true],
    [1, false],
  ]) {
    const results = settings.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [index, { apps }] of running.entries()) {
        if (!flags.quick) await untilQuiet();
        const load = isBusy ? startWrites(1, 5) : null;
        // On a node to which the writes come from another.
        const { server } = apps[1];
        const before = cpuMs(server.pid);
        const result = await wrk(`${server.url}/guarded`, {
          connections,
          headers,
          seconds: flags.quick ? 1 : 4,
        });
        await load?.stop();
        if (result.refused + result.errors > 0)
          throw new Error(`${result.refused} refused, ${result.errors} failed`);
        results[index].push({ ...result, cpu: (cpuMs(server.pid) - before) / result.requests });
      }
    }
    const base = median(results[0].map(({ perSecond }) => perSecond));
    for (const [index, syncWait] of settings.entries()) {
      const perSecond = results[index].map((one) => one.perSecond);
      rows.push([
        connections,
        isBusy ? 'writes' : 'none',
        syncWait,
        `${fixed(median(perSecond))} (${spread(perSecond)})`,
        fixed(median(perSecond) / base, 2),
        fixed(median(results[index].map(({ p50 }) => p50)), 2),
        fixed(median(results[index].map(({ cpu: ms }) => ms)), 3),
      ]);
    }
  }
  await Promise.all(running.map(({ stop }) => stop()));
  return `### The price of causal reads: guarded requests\n\n${table(
    [
      'connections',
      'other load',
      '`wsrep_sync_wait`',
      'a second (lowest–highest)',
      'ratio',
      'median (ms)',
      'CPU of the app (ms)',
    ],
    rows,
  )}`;
}
