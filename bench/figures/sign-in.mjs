// Figure 4: sign-ins by password, and what happens to everyone else meanwhile.
import { hashPassword } from 'better-auth/crypto';
import { createAuth, credentialPassword } from 'latchkey';
import { statementsBetween } from '../support/databases.mjs';
import { newDatabase } from '../support/guarded.mjs';
import { connectTo, insertRows } from '../support/insert.mjs';
import { bench, cores, otherCores, serverCores } from '../support/machine.mjs';
import { fixed, goal, median, spread, table } from '../support/numbers.mjs';
import { FULL, SECRET, SMALL, times, uuidOf } from '../support/people.mjs';
import { cpuMs, start, startServer } from '../support/processes.mjs';
import { undisturbed } from '../support/quiet.mjs';
import { seedBetterAuth, seedLatchkey } from '../support/seeds.mjs';
import { headerFile } from '../support/wrk.mjs';

export const title = 'Sign-ins by password';

const COST = 12;
const CLIENTS = 20;
const PAGES_PER_SECOND = 100;
const PASSWORD = 'correct horse battery staple';

const LATCHKEY = {
  file: 'servers/sign-in-latchkey.mjs',
  origin: 'https://bench.example.test',
  path: '/auth/signin/credential',
  field: 'credential',
};
const HAND_WRITTEN = 'servers/sign-in-hand-written.mjs';
const BETTER_AUTH = {
  file: 'servers/sign-in-better-auth.mjs',
  origin: 'http://127.0.0.1',
  path: '/api/auth/sign-in/email',
  field: 'email',
};

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, dialects, servers, databases, log }) {
  const size = quick ? SMALL : FULL;
  const timing = quick ? { rounds: 1, seconds: 2, warmUp: 2 } : { rounds: 5, seconds: 6, warmUp: 10 };
  const dialect = dialects.find((one) => one !== 'sqlite') ?? dialects[0];
  const isWanted = (name) => !servers || servers.some((one) => name.startsWith(one));
  const context = { ...timing, size, databases, patient: !quick, log };

  log(`seeding latchkey on ${dialect}`);
  const latchkey = {
    ...LATCHKEY,
    ...(await seedOurs(await newDatabase(dialect, 'sign_in', databases), size)),
  };
  let betterAuth = null;
  if (dialect === 'mysql' && isWanted('better-auth')) {
    log('seeding better-auth');
    const url = await newDatabase(dialect, 'sign_in_better_auth', databases);
    betterAuth = { ...BETTER_AUTH, ...(await seedTheirs(url, size)) };
  }
  const head = `${fixed(size.users)} users, ${fixed(size.sessions)} sessions at the start; ${CLIENTS} clients that sign in without pause, each time from a
browser without cookies; ${timing.rounds} interleaved rounds of ${timing.seconds} s. Rate limits are off unless a row says otherwise.`;
  return [
    head,
    await besideBcrypt(latchkey, context),
    await withoutHashing(latchkey, dialect === 'mysql' && isWanted('hand-written'), betterAuth, context),
    await meanwhile(latchkey, betterAuth, context),
  ].join('\n\n');
}

/** With all cores for the server: how much of what the hash alone reaches is left for sign-ins. */
async function besideBcrypt(latchkey, context) {
  const rounds = await interleaved(
    {
      bcrypt: () => undisturbed(() => bcryptAlone(context.seconds), [], context),
      latchkey: () => measured({ ...latchkey, cores, clients: CLIENTS }, context),
    },
    context,
  );
  const of = (name, key) => median(rounds[name].map((round) => round[key]));
  const rate = (name) => [
    fixed(of(name, 'perSecond'), 2),
    spread(
      rounds[name].map(({ perSecond }) => perSecond),
      2,
    ),
  ];
  const share = of('latchkey', 'perSecond') / of('bcrypt', 'perSecond');
  return [
    `### Beside bcrypt alone\n\nbcrypt at cost ${COST} on all cores, with ${CLIENTS} comparisons under way, and sign-ins with the same hash.`,
    table(
      ['', 'a second', 'lowest–highest', 'of bcrypt', 'statements', 'p50 ms', 'failed'],
      [
        ['bcrypt alone', ...rate('bcrypt'), '1.00', '–', '–', '–'],
        [
          `latchkey${marks(rounds.latchkey)}`,
          ...rate('latchkey'),
          fixed(share, 2),
          fixed(of('latchkey', 'statements'), 2),
          fixed(of('latchkey', 'p50OfSignIns')),
          fixed(sum(rounds.latchkey, ({ failed }) => failed.signIns)),
        ],
      ],
    ),
    [
      goal('sign-ins a second, of bcrypt alone', share, 'at least', 0.9),
      ...(Number.isFinite(of('latchkey', 'statements'))
        ? [goal('statements a sign-in in a new browser', of('latchkey', 'statements'), 'at most', 4)]
        : []),
    ].join('\n'),
  ].join('\n\n');
}

/** With one core for the server: what a sign-in costs beside the hash. */
async function withoutHashing(latchkey, hasHandWritten, betterAuth, context) {
  const env = { BENCH_HASH: 'none' };
  const one = (server, more = {}) => {
    const options = {
      ...server,
      cores: serverCores,
      clients: CLIENTS,
      env: { ...server.env, ...env, ...more },
      // Node has optimized the code by then, as in a server that has run for a while.
      warmUp: context.warmUp,
    };
    return () => measured(options, context);
  };
  const rounds = await interleaved(
    {
      latchkey: one(latchkey),
      'latchkey with its rate limits, in the database': one(latchkey, { BENCH_LIMITS: 'on' }),
      ...(hasHandWritten && {
        'hand-written, the same statements by mysql2': one({ ...latchkey, file: HAND_WRITTEN }),
      }),
      ...(betterAuth && { 'better-auth': one(betterAuth) }),
    },
    context,
  );
  const of = (name, key) => median(rounds[name].map((round) => round[key]));
  const ratio = (name) => of(name, 'perSecond') / of('better-auth', 'perSecond');
  return [
    `### With hashing taken out\n\nOn both sides the function that compares a password with its hash accepts it at once. The server has one core. Each
round follows ${context.warmUp} s of warm-up.`,
    table(
      [
        'server',
        'a second',
        'lowest–highest',
        'of better-auth',
        'CPU ms',
        'busy',
        'statements',
        'p50 ms',
        'failed',
      ],
      Object.entries(rounds).map(([name, all]) => [
        `${name}${marks(all)}`,
        fixed(of(name, 'perSecond')),
        spread(all.map(({ perSecond }) => perSecond)),
        betterAuth ? fixed(ratio(name), 2) : '–',
        fixed(of(name, 'cpu'), 2),
        `${fixed(of(name, 'busy') * 100)} %`,
        fixed(of(name, 'statements'), 2),
        fixed(of(name, 'p50OfSignIns'), 1),
        fixed(sum(all, ({ failed }) => failed.signIns)),
      ]),
    ),
    ...(betterAuth ? [goal('sign-ins a second, times better-auth', ratio('latchkey'), 'at least', 4)] : []),
  ].join('\n\n');
}

/** A guarded page of others while many sign in. */
async function meanwhile(latchkey, betterAuth, context) {
  const one = (server, clients) => () =>
    measured({ ...server, cores, clients, pages: server.headers }, context);
  const names = ['latchkey', ...(betterAuth ? ['better-auth'] : [])];
  const atRest = (name) => `${name}, nobody signs in`;
  const busy = (name) => `${name}, ${CLIENTS} sign in`;
  const rounds = await interleaved(
    Object.fromEntries(
      names.flatMap((name) => {
        const server = name === 'latchkey' ? latchkey : betterAuth;
        return [
          [atRest(name), one(server, 0)],
          [busy(name), one(server, CLIENTS)],
        ];
      }),
    ),
    context,
  );
  const of = (name, key) => median(rounds[name].map((round) => round[key]));
  const ratio = (name) => of(busy(name), 'p99') / of(atRest(name), 'p99');
  const lost = sum(rounds[busy('latchkey')], ({ failed }) => failed.pages);
  return [
    `### While ${CLIENTS} sign in\n\n${PAGES_PER_SECOND} guarded pages a second, and ten times a second in the same process \`fs.stat\`, \`dns.lookup\` and \`crypto.randomBytes\`.
Each library has its own hash: bcrypt at cost ${COST}, and better-auth's scrypt. The server has all cores, and shares them with the load and
the database.`,
    table(
      [
        ...['', 'page p50 ms', 'p99 ms', 'lowest–highest', 'failed pages', 'fs ms', 'DNS ms', 'random ms'],
        'sign-ins a second',
      ],
      Object.entries(rounds).map(([name, all]) => [
        `${name}${marks(all)}`,
        fixed(of(name, 'p50'), 1),
        fixed(of(name, 'p99'), 1),
        spread(
          all.map(({ p99 }) => p99),
          1,
        ),
        `${fixed(sum(all, ({ failed }) => failed.pages))} of ${fixed(sum(all, ({ pages }) => pages))}`,
        ...['fs', 'dns', 'random'].map((key) => fixed(of(name, key), 2)),
        fixed(of(name, 'perSecond'), 1),
      ]),
    ),
    [
      goal('p99 of the page, times that at rest', ratio('latchkey'), 'at most', 3),
      goal('pages that failed', lost, 'at most', 0, 0),
      ...['fs', 'dns', 'random'].map((key) =>
        goal(`median of ${key}, ms`, of(busy('latchkey'), key), 'at most', 5),
      ),
    ].join('\n'),
  ].join('\n\n');
}

/** A round of one server: started, warmed up, and measured on a quiet machine. */
async function measured(one, context) {
  const { file, env, cores: own, path, field, origin, clients, pages = null, warmUp = 2 } = one;
  const { seconds, size, databases, patient } = context;
  const server = await startServer(file, env, { cores: own });
  try {
    const load = {
      url: server.url,
      origin,
      path,
      field,
      password: PASSWORD,
      users: size.users,
      clients,
      pages,
    };
    const options = { ...load, pagesPerSecond: PAGES_PER_SECOND };
    // The measured process has compiled its code, and opened its connections.
    const first = await loaded({ ...options, clients: Math.max(1, clients), seconds: warmUp });
    if (first.signIns === 0) throw new Error(`no sign-in succeeded: ${first.failure} ${server.output()}`);
    const running = await databases.running();
    return await undisturbed(
      async () => {
        const before = await Promise.all(running.map((one) => one.statements()));
        const cpu = cpuMs(server.pid);
        const result = await loaded({ ...options, seconds });
        const used = cpuMs(server.pid) - cpu;
        const after = await Promise.all(running.map((one) => one.statements()));
        const sent = after.map((one, index) => statementsBetween(before[index], one));
        const statements = sum(sent, ({ selects, writes }) => selects + writes);
        const count = result.signIns + result.failed.signIns;
        // Without a server, the statements of SQLite are not counted.
        const each = running.length > 0 ? statements / count : Number.NaN;
        return { ...result, statements: each, cpu: used / count, busy: used / (seconds * 1000) };
      },
      [server.pid, ...running.map(({ pid }) => pid)],
      { patient },
    );
  } finally {
    await server.stop('SIGKILL');
  }
}

/** @param {import('../support/sign-in-load.mjs').LoadOptions} options */
async function loaded(options) {
  return jsonOf(
    start(otherCores, process.execPath, [`${bench}support/sign-in-load.mjs`, JSON.stringify(options)]),
  );
}

function bcryptAlone(seconds) {
  const args = [COST, CLIENTS, seconds].map(String);
  return jsonOf(start(cores, process.execPath, [`${bench}support/bcrypt-alone.mjs`, ...args]));
}

async function jsonOf(child) {
  await child.ended;
  const [, json] = /^JSON (\{.*\})$/m.exec(child.output()) ?? [];
  if (!json) throw new Error(child.output());
  return JSON.parse(json);
}

async function interleaved(all, { rounds, log }) {
  const results = Object.fromEntries(Object.keys(all).map((name) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const [name, work] of Object.entries(all)) {
      const one = await work();
      results[name].push(one);
      const p99 = one.pages > 0 ? `, page p99 ${fixed(one.p99, 1)} ms` : '';
      log(`${round}/${rounds} ${name}: ${fixed(one.perSecond, 1)} a second${p99}${marks([one])}`);
    }
  }
  return results;
}

async function seedOurs(url, size) {
  const { cookie } = await seedLatchkey(url, size);
  const auth = createAuth({
    database: url,
    secret: SECRET,
    rateLimit: false,
    plugins: [credentialPassword({ bcryptCost: COST })],
  });
  const model = { email: 'model@example.test', password: PASSWORD };
  const { user } = await auth.credential.signUp(model);
  const row = await auth.models.User.unscoped().findByPk(user.id);
  const hash = row.get('passwordHash');
  await auth.models.User.update({ passwordHash: hash }, { where: {} });
  await auth.close();
  return { env: { BENCH_URL: url }, headers: headerFile('sign-in-latchkey', cookie.lines) };
}

async function seedTheirs(url, size) {
  const { lines } = await seedBetterAuth(url, size);
  const hash = await hashPassword(PASSWORD);
  const connection = await connectTo(url);
  const { created } = times;
  await insertRows(
    connection,
    'account',
    ['id', 'accountId', 'providerId', 'userId', 'password', 'createdAt', 'updatedAt'],
    size.users,
    (user) => {
      const id = uuidOf('user', user);
      return [uuidOf('account', user), id, 'credential', id, hash, created, created];
    },
  );
  await connection.close();
  return { env: { BENCH_URL: url }, headers: headerFile('sign-in-better-auth', lines) };
}

const marks = (rounds) => (rounds.some(({ disturbed }) => disturbed) ? ' (disturbed)' : '');

function sum(all, of) {
  return all.reduce((total, one) => total + of(one), 0);
}
