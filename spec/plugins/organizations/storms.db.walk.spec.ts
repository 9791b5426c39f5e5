import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { organizations } from '../../../lib/index.js';
import { password } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { type Person, person } from '../../support/organizations.js';

const plugins = [password(), organizations({ maxMembers: 6 })] as const;
const ROUNDS = 10;

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({
    plugins,
    config: { rateLimit: false, accountDeletion: { graceDays: 7 } },
  });
});
beforeEach(empty);
afterAll(() => app.stop());

async function empty() {
  await rows(app.database, 'DELETE FROM organizations');
  await rows(app.database, 'DELETE FROM users');
}

/** The organizations with members, none of whom is an owner whose account is not closed. */
const withoutOwner = () =>
  rows(
    app.database,
    `SELECT o.slug AS slug FROM organizations o
     WHERE NOT EXISTS (SELECT 1 FROM organization_members m JOIN users u ON u.id = m.user_id
       WHERE m.organization_id = o.id AND m.role = 'owner' AND u.deleted_at IS NULL)
     AND EXISTS (SELECT 1 FROM organization_members m JOIN users u ON u.id = m.user_id
       WHERE m.organization_id = o.id AND u.deleted_at IS NULL)`,
  );
/** The organizations without any member, and those with more than `maxMembers`. */
const wrongSizes = () =>
  rows(
    app.database,
    `SELECT o.slug AS slug FROM organizations o WHERE
     (SELECT COUNT(*) FROM organization_members m WHERE m.organization_id = o.id) NOT BETWEEN 1 AND 6`,
  );

test('whatever happens at the same time, an organization has an active owner, and no request fails', async () => {
  const faults: unknown[] = [];
  const done = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    await empty();
    const people: Person[] = [];
    for (const name of ['ada', 'bob', 'eve', 'dan']) people.push(await person(app, name));
    const [ada, bob, eve, dan] = people as [Person, Person, Person, Person];
    const ids: string[] = [];
    for (const slug of ['acme', 'bcme']) {
      const { id } = await app.auth.organizations.create({ name: slug, slug, ownerId: ada.id });
      await app.auth.organizations.addMember(id, bob.id, 'owner');
      await app.auth.organizations.addMember(id, eve.id, round % 2 ? 'owner' : 'admin');
      ids.push(id);
    }
    const [a = '', b = ''] = round % 3 ? ids : [...ids].reverse();
    const tokens: string[] = [];
    for (const id of [a, b]) {
      const mail = await app.mailOf(
        () => app.auth.organizations.invite(id, { email: dan.email, role: 'owner', invitedBy: bob.id }),
        'organization-invitation',
      );
      tokens.push(mail.token);
    }
    const works: (readonly [string, () => PromiseLike<{ status: number; body: { code?: string } }>])[] = [
      [
        'bob demotes ada',
        () => bob.send('patch', `/organizations/${a}/members/${ada.id}`, { role: 'member' }),
      ],
      [
        'ada demotes bob',
        () => ada.send('patch', `/organizations/${a}/members/${bob.id}`, { role: 'member' }),
      ],
      ['ada leaves', () => ada.send('delete', `/organizations/${a}/members/${ada.id}`)],
      ['bob leaves', () => bob.send('delete', `/organizations/${b}/members/${bob.id}`)],
      ['ada removes bob', () => ada.send('delete', `/organizations/${b}/members/${bob.id}`)],
      ['bob removes ada', () => bob.send('delete', `/organizations/${b}/members/${ada.id}`)],
      ['ada closes', () => ada.send('delete', '/me')],
      ['bob closes', () => bob.send('delete', '/me')],
      ['eve closes', () => eve.send('delete', '/me')],
      ['dan joins a', () => dan.send('post', '/invitations/accept', { token: tokens[0] })],
      ['dan joins b', () => dan.send('post', '/invitations/accept', { token: tokens[1] })],
      ['dan joins b', () => dan.send('post', '/invitations/accept', { token: tokens[1] })],
      [
        'eve invites',
        () => eve.send('post', `/organizations/${a}/invitations`, { email: dan.email, role: 'admin' }),
      ],
      [
        'bob invites',
        () => bob.send('post', `/organizations/${b}/invitations`, { email: 'x@example.com', role: 'owner' }),
      ],
      ['ada raises eve', () => ada.send('patch', `/organizations/${b}/members/${eve.id}`, { role: 'owner' })],
      ['bob deletes', () => bob.send('delete', `/organizations/${a}`)],
    ];
    // Each round is another half of them, in another order.
    const some = works.filter((_, at) => (at * 31 + round * 17 + ((at * round) % 3)) % 5 < 2);
    const inOrder = round % 2 ? some : [...some].reverse();
    const answers = await Promise.all(
      inOrder.map(async ([name, send]) => {
        const { status, body } = await send();
        return { name, status, code: body?.code };
      }),
    );
    for (const one of answers) {
      if (one.status < 300) done.add(one.name);
      if (one.status >= 500) faults.push([round, one]);
    }
    const joined = answers.filter(({ name, status }) => name === 'dan joins b' && status === 200);
    if (joined.length > 1) faults.push([round, 'accepted twice']);
    faults.push(...(await withoutOwner()), ...(await wrongSizes()));
  }
  expect(faults).toEqual([]);
  expect(done.size).toBeGreaterThan(9);
});

/** What ends the activity of one of two owners, without the lock of the other's account. */
const ENDS: Readonly<Record<string, (own: Person, id: string) => PromiseLike<unknown>>> = {
  leaves: (own, id) => own.send('delete', `/organizations/${id}/members/${own.id}`),
  closes: (own) => own.send('delete', '/me'),
  'is demoted': ({ id: userId }, id) =>
    app.auth.organizations.setRole(id, userId, 'member').catch(() => undefined),
  'is removed': ({ id: userId }, id) =>
    app.auth.organizations.removeMember(id, userId).catch(() => undefined),
};
const PAIRS = Object.keys(ENDS).flatMap((one, at) =>
  Object.keys(ENDS)
    .slice(at)
    .map((other) => [one, other] as const),
);

test.each(PAIRS)('one of two owners %s, and the other %s: one of them stays', async (one, other) => {
  const faults: unknown[] = [];
  for (let round = 0; round < 2; round++) {
    await empty();
    const owners = [await person(app, 'ada'), await person(app, 'bob')] as const;
    const { id } = await app.auth.organizations.create({ name: 'A', slug: 'acme', ownerId: owners[0].id });
    await app.auth.organizations.addMember(id, owners[1].id, 'owner');
    await Promise.all([ENDS[one]?.(owners[0], id), ENDS[other]?.(owners[1], id)]);
    faults.push(...(await withoutOwner()), ...(await wrongSizes()));
  }
  expect(faults).toEqual([]);
});
