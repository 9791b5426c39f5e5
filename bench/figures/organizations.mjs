// Figure: what becomes slower with the members of an organization and with the organizations of a user.
import { latchkeyAuth } from '../servers/latchkey-auth.mjs';
import { newDatabase } from '../support/guarded.mjs';
import { connectTo, insertRows } from '../support/insert.mjs';
import { fixed, goal, median, spread, table } from '../support/numbers.mjs';
import { emailOf, times, uuidOf } from '../support/people.mjs';
import { undisturbed } from '../support/quiet.mjs';

export const title = 'Organizations';

const FEW = 100;
const MANY = 10_000;
const PAGE = 50;
const CALLS = 100;
const NAMES = { mysql: 'MySQL', postgres: 'PostgreSQL', sqlite: 'SQLite' };

/** The organization with as many members, and the user with as many organizations. */
const large = (size) => uuidOf('organization', size);
const busy = (size) => uuidOf('user', size);
const cursorOf = (id) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');

/** What is called, with the number of members or organizations. */
const ACTS = [
  ['members: page 1', ({ auth, size }) => auth.organizations.members(large(size), { limit: PAGE })],
  [
    'members: the last page',
    ({ auth, size }) =>
      auth.organizations.members(large(size), { limit: PAGE, cursor: cursorOf(memberOf(size, PAGE + 1)) }),
  ],
  [
    'organizations of a user: page 1',
    ({ auth, size }) => auth.organizations.ofUser(busy(size), { limit: PAGE }),
  ],
  [
    'organizations of a user: the last page',
    ({ auth, size }) =>
      auth.organizations.ofUser(busy(size), { limit: PAGE, cursor: cursorOf(ownedBy(size, PAGE + 1)) }),
  ],
  ['an organization by its slug', ({ auth, size }) => auth.organizations.get(`of-many-${size}`)],
];

const memberOf = (size, member) => uuidOf('member', size * 10 + member);
const ownedBy = (size, organization) => uuidOf('organization', size * 10 + organization);

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, dialects, databases, log }) {
  const rounds = quick ? 2 : 7;
  const parts = [];
  for (const dialect of dialects) {
    const auth = await seeded(dialect, databases);
    const pids = (await databases.running()).map(({ pid }) => pid);
    log(`${NAMES[dialect]}: ${rounds} rounds`);
    const taken = ACTS.map(() => ({ [FEW]: [], [MANY]: [] }));
    for (let round = 0; round <= rounds; round++) {
      const { each } = await undisturbed(async () => ({ each: await oneRound(auth, round) }), pids, {
        patient: !quick,
        tries: 2,
        log,
      });
      // The first one warms up.
      if (round > 0)
        for (const [act, ofAct] of each.entries())
          for (const size of [FEW, MANY]) taken[act][size].push(ofAct[size]);
    }
    await auth.close();
    parts.push(report(dialect, taken));
  }
  return parts.join('\n\n');
}

/** Milliseconds of one call, by act and size. */
async function oneRound(auth, round) {
  const each = ACTS.map(() => ({}));
  for (const [act, [, work]] of ACTS.entries())
    for (const size of round % 2 === 0 ? [FEW, MANY] : [MANY, FEW]) {
      const begun = performance.now();
      for (let done = 0; done < CALLS; done++) await work({ auth, size });
      each[act][size] = (performance.now() - begun) / CALLS;
    }
  return each;
}

async function seeded(dialect, databases) {
  const url = await newDatabase(dialect, 'organizations', databases);
  const auth = latchkeyAuth(url, true);
  await auth.migrate();
  const connection = await connectTo(url);
  const { created } = times;
  const users = ['id', 'email', 'auth_epoch', 'created_at', 'updated_at'];
  await insertRows(connection, 'users', users, MANY, (user) => [
    ...[uuidOf('user', user), emailOf(user)],
    ...[0, created, created],
  ]);
  const organizations = ['id', 'name', 'slug', 'created_at', 'updated_at'];
  const members = ['id', 'user_id', 'organization_id', 'role', 'created_at'];
  for (const size of [FEW, MANY]) {
    const named = (id, slug) => [id, 'Bench', slug, created, created];
    await insertRows(connection, 'organizations', organizations, 1, () =>
      named(large(size), `of-many-${size}`),
    );
    await insertRows(connection, 'organization_members', members, size, (user) => [
      ...[memberOf(size, user), uuidOf('user', user), large(size), 'member', created],
    ]);
    await insertRows(connection, 'organizations', organizations, size, (one) =>
      named(ownedBy(size, one), `of-${size}-${one}`),
    );
    await insertRows(connection, 'organization_members', members, size, (one) => [
      ...[uuidOf('owner', size * 10 + one), busy(size), ownedBy(size, one), 'owner', created],
    ]);
  }
  for (const name of ['users', 'organizations', 'organization_members'])
    await connection.run(
      { mysql: `ANALYZE TABLE ${name}`, postgres: `VACUUM ANALYZE ${name}`, sqlite: `ANALYZE ${name}` }[
        dialect
      ],
    );
  await connection.close();
  return auth;
}

function report(dialect, taken) {
  const ratios = taken.map((ofAct) => median(ofAct[MANY]) / median(ofAct[FEW]));
  const rows = ACTS.map(([name], act) => [
    ...[name, fixed(median(taken[act][FEW]), 3), spread(taken[act][FEW], 3)],
    ...[fixed(median(taken[act][MANY]), 3), spread(taken[act][MANY], 3), fixed(ratios[act], 2)],
  ]);
  return [
    `### ${NAMES[dialect]}`,
    `Milliseconds of one call, alone, with ${fixed(FEW)} and with ${fixed(MANY)} members of an organization or organizations of a user.`,
    table(['call', 'few', 'lowest–highest', 'many', 'lowest–highest', 'ratio'], rows),
    goal('the slowest call with many, times with few', Math.max(...ratios), 'at most', 1.3),
  ].join('\n\n');
}
