import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../lib/auth.js';
import type { Route } from '../lib/http/route.js';
import type { HasWaysIn } from '../lib/users/record.js';
import { rows } from './support/database.js';
import { app, interrupt, NEW, newPerson, type Person, startWays, stopWays } from './support/ways-in.js';
import {
  cellsOf,
  OPERATIONS,
  OTHER_OPERATIONS,
  outcomeOf,
  POLICIES,
  PUBLIC_ROUTES,
  WAYS,
} from './support/ways-in-table.js';

/**
 * Every way in × every policy. The list of ways is checked against the routes and operations there are, so that a new one
 * needs a row, and each row against the policies. Verified emails and limits need apps of their own: see spec/ways-in.
 */
beforeAll(() => startWays({}, { accountDeletion: { graceDays: 7 } }));
afterAll(stopWays);

describe('the lists of ways in', () => {
  test('have a row for every route that anybody may call', () => {
    const routes = internalsOf(app.auth)
      .routes()
      .filter(({ access }) => access === 'public');
    const names = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(Object.keys(PUBLIC_ROUTES).sort()).toEqual(names.sort());
  });

  test('have a row for every operation', () => {
    const names = Object.entries(app.auth).flatMap(([name, value]) => {
      if (typeof value === 'function') return name;
      if (name === 'models' || value === null) return [];
      const methods = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(value)));
      return methods
        .filter(([method, { value: it }]) => typeof it === 'function' && method !== 'constructor')
        .map(([method]) => `${name}.${method}`);
    });
    const rowsOf = [...Object.keys(OPERATIONS), ...OTHER_OPERATIONS.trim().split(/\s+/)];
    expect(rowsOf.sort()).toEqual(names.sort());
  });

  test('belong to plugins that count them as sign-in methods of an account', () => {
    type OfPlugin = HasWaysIn & { readonly name?: string; routes?(): readonly Route[] };
    const all = internalsOf(app.auth).core.contributions as readonly OfPlugin[];
    const starting = all.filter((plugin) =>
      plugin.routes?.().some(({ access, session }) => access === 'public' && session === 'starts'),
    );
    expect(starting.length).toBeGreaterThan(2);
    expect(starting.filter(({ waysIn }) => !waysIn).map(({ name }) => name)).toEqual([]);
  });

  test.each(WAYS)('have a cell for each policy: $name', (row) => {
    expect(Object.keys(row).sort()).toEqual(['name', 'way', ...POLICIES].sort());
    // Whatever is let through says why.
    for (const policy of POLICIES) expect(['ok', 'unlimited', undefined]).not.toContain(row[policy]);
  });
});

describe('a suspended account', () => {
  test.each(cellsOf('suspension'))('$name: $outcome', async ({ way, outcome }) => {
    const person = await newPerson();
    const { wrong, right, isAlwaysWrong = false } = await way(person);
    // A suspension ends all sessions, and with them some ways for good.
    const ended = ['account_suspended', 'ok'].includes(outcome) ? undefined : outcome;
    if (wrong) expect(await wrong[0]()).toBe(wrong[1]);
    await app.auth.suspension.suspend(person.id);
    const before = await attachedTo(person);
    if (wrong) expect(await wrong[0]()).toBe(isAlwaysWrong ? wrong[1] : (ended ?? wrong[1]));
    expect(await right()).toBe(outcome);
    if (outcome === 'ok') return;
    expect(await attachedTo(person)).toEqual(before);
    await app.auth.suspension.reinstate(person.id);
    expect(await right()).toBe(ended ?? 'ok');
  });

  test('gets nothing from any route with a session that it had, or with an API key', async () => {
    const person = await newPerson();
    const { key } = await app.auth.apiKeys.create(person.id, { name: 'program' });
    const { token } = await app.auth.createSession(person.id);
    await app.auth.suspension.suspend(person.id);
    const guarded = internalsOf(app.auth)
      .routes()
      // Without a session, an invitation creates another account.
      .filter(({ access, path }) => access !== 'public' && path !== '/invitations/accept');
    expect(guarded.length).toBeGreaterThan(20);
    for (const { method, path } of guarded) {
      const url = `/auth${path.replace(':provider', 'oidc').replace(/:\w+/g, person.id)}`;
      const codeWith = async (name: string, value: string) => {
        const { status, body } = await app.http[method](url).set(name, value);
        return [path, status, body.code];
      };
      // A sign-out has nothing left to end.
      const refused = path === '/signout' ? [path, 204, undefined] : [path, 401, 'invalid_session'];
      expect(await codeWith('authorization', `Bearer ${token}`)).toEqual(refused);
      expect(await codeWith('x-service-api-key', key)).toEqual([path, 403, 'account_suspended']);
      expect(await codeWith('cookie', `latchkey=${token}`)).toEqual(refused);
    }
  });

  test('asks for links, and signs up again, with the same responses as any other', async () => {
    const [open, shut] = [await newPerson(), await newPerson()];
    await app.auth.suspension.suspend(shut.id);
    for (const [path, more] of [
      ['/passwords/request-reset', {}],
      ['/signup/credential', { password: NEW }],
      ['/signin/link/request', {}],
    ] as const) {
      const [one, other] = await Promise.all(
        [open, shut].map(({ email }) => app.http.post(`/auth${path}`).send({ email, ...more })),
      );
      const shown = (body: object) => ('expires_at' in body ? Object.keys(body) : body);
      expect([path, other?.status, shown(other?.body)]).toEqual([path, one?.status, shown(one?.body)]);
    }
  });
});

describe('an account with a second factor', () => {
  test.each(cellsOf('secondFactor'))('$name: $outcome', async ({ way, outcome }) => {
    const person = await newPerson();
    const { right } = await way(person);
    const { id } = person;
    // The first proof of an address would throw the factor out.
    const times = ['second_factor_at', 'email_verified_at', 'mailbox_proved_at'].map(
      (at) => `${at} = created_at`,
    );
    await rows(app.database, `UPDATE users SET ${times} WHERE id = :id`, { id });
    await rows(app.database, 'UPDATE sessions SET authenticated_at = created_at WHERE user_id = :id', { id });
    const before = await begunFor(person);
    const code = await right();
    const { sessions, pending } = await begunFor(person);
    const begun = sessions.filter((session) => !before.sessions.some((other) => other.id === session.id));
    const shown = begun.map(({ aal, authenticatedAt }) =>
      authenticatedAt.getTime() === 0 ? `aal ${aal}, not fresh` : `aal ${aal}`,
    );
    if (pending > before.pending) shown.push('pending');
    expect(code === 'ok' && shown.length > 0 ? shown : [code]).toEqual([outcome]);
    if (code !== 'ok') expect(shown).toEqual([]);
  });
});

describe('an account that needs a new password', () => {
  test.each(cellsOf('newPassword'))('$name: $outcome', async ({ way, outcome }) => {
    const person = await newPerson();
    const { right } = await way(person);
    const { id } = person;
    await rows(app.database, 'UPDATE users SET email_verified_at = created_at WHERE id = :id', { id });
    await app.auth.users.requireNewPassword(id);
    expect(await right()).toBe(outcome);
  });
});

describe('an account that was deleted', () => {
  test.each(cellsOf('deletion'))('$name: $outcome', async ({ way, outcome }) => {
    const person = await newPerson();
    const { wrong, right } = await way(person);
    await app.auth.users.delete(person.id, { atOnce: true });
    if (wrong) expect(await wrong[0]()).not.toBe('ok');
    expect(await right()).toBe(outcome);
    expect(await app.auth.users.get(person.id)).toBeNull();
    expect(Object.values(await attachedTo(person)).flat()).toEqual([]);
  });
});

describe('an account that is kept shut', () => {
  test.each(cellsOf('closure'))('$name: $outcome', async ({ way, outcome }) => {
    const person = await newPerson();
    const { wrong, right } = await way(person);
    await app.auth.users.delete(person.id);
    const before = await attachedTo(person);
    if (wrong) expect(await wrong[0]()).not.toBe('ok');
    expect(await right()).toBe(outcome);
    expect(await app.auth.listSessions(person.id)).toEqual([]);
    if (outcome !== 'ok') expect(await attachedTo(person)).toEqual(before);
  });
});

describe('revoking all sessions of an account', () => {
  test.each(cellsOf('epoch'))('before $name: $outcome', async ({ way, outcome }) => {
    const person = await newPerson();
    const { right } = await way(person);
    await app.auth.revokeAllSessions(person.id);
    const before = await attachedTo(person);
    expect(await right()).toBe(outcome);
    if (outcome !== 'ok') expect(await attachedTo(person)).toEqual(before);
  });
});

const MEANWHILE = [
  ['is signed out everywhere', ({ id }: { id: string }) => app.auth.revokeAllSessions(id)],
  ['is suspended', ({ id }: { id: string }) => app.auth.suspension.suspend(id)],
  ['is kept shut', ({ id }: { id: string }) => app.auth.users.delete(id)],
  ['is deleted', ({ id }: { id: string }) => app.auth.users.delete(id, { atOnce: true })],
] as const;

describe.each(MEANWHILE)('an account that %s between the proof and the session', (_name, work) => {
  // Those that begin a session, or would.
  const signIns = WAYS.filter(({ secondFactor }) => /^(pending|aal)/.test(outcomeOf(secondFactor)));

  test.each(signIns)('of $name has none', async ({ way }) => {
    const person = await newPerson();
    const { right } = await way(person);
    expect(await interrupt(right, work)).toBe(true);
    expect(await app.auth.listSessions(person.id)).toEqual([]);
  });
});

/** What a refused attempt must not change. */
async function attachedTo({ id }: Person) {
  const of = (table: string, columns: string, key = 'user_id') =>
    rows(app.database, `SELECT ${columns} FROM ${table} WHERE ${key} = :id ORDER BY 1`, { id });
  return {
    users: await of('users', 'id, email_verified_at, password_hash, auth_epoch', 'id'),
    sessions: await of('sessions', 'id'),
    accounts: await of('accounts', 'id, access_token, created_at'),
    keys: await of('api_keys', 'id'),
    tokens: await of('one_time_tokens', 'token_hash'),
    devices: await of('known_devices', '*'),
  };
}

async function begunFor({ id }: Person) {
  const pending = await rows(app.database, 'SELECT user_id FROM unfinished_sign_ins WHERE user_id = :id', {
    id,
  });
  return { sessions: await app.auth.listSessions(id), pending: pending.length };
}
