import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { admin, roles } from '../../../lib/index.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';

const plugins = [
  password(),
  admin({ role: 'admin' }),
  roles({ roles: { admin: [], lead: ['posts:*'], editor: ['posts:write'] } }),
] as const;
const AT_ONCE = 16;

let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({ plugins });
});
beforeEach(() => rows(app.database, 'DELETE FROM users'));
afterAll(() => app.stop());

let people = 0;
async function person(given: readonly string[]) {
  const { id } = await app.auth.users.create({
    email: `person-${people++}@example.com`,
    emailVerified: true,
  });
  await app.auth.roles.set(id, given);
  return { id, headers: { cookie: `latchkey=${(await app.auth.createSession(id)).token}` } };
}

test('16 requests at the same time, and a demotion: no role is given that the giver has lost', async () => {
  // The giver stays an administrator, whose permissions no longer cover the role.
  const [giver, other] = [await person(['admin', 'lead']), await person(['admin', 'lead'])];
  const targets = await Promise.all(Array.from({ length: AT_ONCE }, () => person([])));
  const log: { userId: string; adminId: string | null }[] = [];
  const stop = app.auth.on('user.roles_changed', ({ userId, adminId }) => log.push({ userId, adminId }));
  const put = (by: typeof giver, id: string, given: readonly string[]) =>
    app.http.put(`/auth/admin/users/${id}/roles`).set(by.headers).send({ roles: given });
  const half = AT_ONCE / 2;
  const answers = await Promise.all([
    ...targets.slice(0, half).map(({ id }) => put(giver, id, ['editor'])),
    put(other, giver.id, ['admin']),
    ...targets.slice(half).map(({ id }) => put(giver, id, ['editor'])),
  ]);
  stop();
  expect(answers[half]?.status).toBe(200);
  const given = answers.filter((_answer, index) => index !== half);
  for (const { status, body } of given)
    expect(status === 200 || body.code === 'permission_required' ? 'either' : [status, body]).toBe('either');
  // The events are in the order of the commits.
  const lost = log.findIndex(({ userId }) => userId === giver.id);
  expect(log.slice(lost + 1)).toEqual([]);
  expect(lost).toBe(given.filter(({ status }) => status === 200).length);
  for (const [index, { id }] of targets.entries())
    expect(await app.auth.roles.of(id)).toEqual(given[index]?.status === 200 ? ['editor'] : []);
});

test('two administrators who demote each other at the same time: one of them does it', async () => {
  for (let round = 0; round < 4; round++) {
    const [one, other] = [await person(['admin']), await person(['admin'])];
    const answers = await Promise.all([
      app.http.put(`/auth/admin/users/${other.id}/roles`).set(one.headers).send({ roles: [] }),
      app.http.put(`/auth/admin/users/${one.id}/roles`).set(other.headers).send({ roles: [] }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  }
});
