import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Transaction } from 'sequelize';
import { internalsOf } from '../../lib/auth.js';
import { apiKeys, oauth, passkeys, twoFactor } from '../../lib/index.js';
import { movingIn } from '../../lib/moving-in.js';
import { password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { beforeChange, byUser } from '../support/changes.js';
import { rows } from '../support/database.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { mailbox } from '../support/mailbox.js';
import { addPasskey, authenticator, PAGE } from '../support/passkeys.js';
import { expectProblem } from '../support/problem.js';

// htpasswd -nbB -C 5 ada …
const WORDS = 'correct horse battery';
const HASH = '$2y$05$b4arMjmQm5Cghbd7RLH8rOmlm8QIxdxETXnBzWzGYMXNsDwA4U8Ae';
const NEW_WORDS = 'another horse altogether';
const NEW_HASH = '$2b$05$T6W1u3NUW2m.Is1iGCbA..aqo2qhKi4E2TNjNM1bANQJTcTSqI2ZO';
const TOTP = ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU'] as const;
const ROW = {
  ref: 7,
  email: 'ada@example.com',
  emailVerified: true,
  passwordHash: HASH,
  totpSecret: TOTP[0],
} as const;

const plugins = () =>
  [
    password({ username: true }),
    oauth(),
    fixedProvider(),
    twoFactor(),
    passkeys(),
    apiKeys(),
    movingIn(),
  ] as const;

/** What the app does after a change of a user. */
let afterUpdate: (id: string, transaction: Transaction) => Promise<unknown> = async () => {};
let app: SpecApp<ReturnType<typeof plugins>>;
const mails = mailbox();
beforeAll(async () => {
  app = await startApp({
    plugins: plugins(),
    config: {
      baseUrl: PAGE,
      email: { send: mails.send },
      user: { fields: { plan: { type: 'string' } } },
      hooks: {
        afterUpdateUser: async ({ id }, _changed, { transaction }) =>
          void (await afterUpdate(id, transaction)),
      },
    },
  });
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  await rows(app.database, 'DELETE FROM imported_users');
});
afterAll(() => app.stop());

/** Imports Ada's row, and a change of the account that a link can undo, which a thief might have. */
const imported = async (row: object = ROW) => {
  const { users } = await app.auth.movingIn.importUsers([row as typeof ROW]);
  const id = String(users[0]?.id);
  return { id, earlier: await beforeChange(app.auth, id) };
};
const update = async (row: object) => {
  const outcome = await app.auth.movingIn.importUsers([row as typeof ROW], { update: true });
  expect(outcome).toMatchObject({ updated: 1, conflicts: [] });
};
const keys = () => rows(app.database, 'SELECT id FROM api_keys');
const undo = (token: string) => app.auth.undoChange(token, { trusted: true }).catch(({ code }) => code);

describe('an update by an import', () => {
  const CHANGES: Record<string, object> = {
    'a new password': { ...ROW, passwordHash: NEW_HASH },
    'a new email': { ...ROW, email: 'ada@elsewhere.example' },
    'a new second factor': { ...ROW, totpSecret: TOTP[1] },
    'no second factor': { ...ROW, totpSecret: null },
    'a linked account': { ...ROW, accounts: [{ provider: 'fixed', subject: 'ada' }] },
  };
  test.each(Object.keys(CHANGES))('ends every undo link: %s', async (name) => {
    const { earlier } = await imported();
    await update(CHANGES[name] ?? {});
    expect(await undo(earlier)).toBe('invalid_token');
  });

  test('ends them although a hook of the app changes the user too', async () => {
    const { earlier } = await imported();
    let calls = 0;
    afterUpdate = async (id, transaction) => {
      if (calls++ === 0) await app.auth.users.update(id, { fields: { plan: 'large' }, transaction });
    };
    try {
      await update({ ...ROW, email: 'ada@elsewhere.example' });
    } finally {
      afterUpdate = async () => {};
    }
    expect(calls).toBe(2);
    expect(await undo(earlier)).toBe('invalid_token');
  });

  test('that proves the mailbox of an address that nobody knows is a first proof, whatever was proven before', async () => {
    const { id } = await imported({ ...ROW, totpSecret: null });
    await app.auth.users.changeEmail(id, 'other@example.com');
    await rows(app.database, "UPDATE imported_users SET changed = ''");
    await app.auth.apiKeys.create(id, { name: 'of a stranger' });
    expect(await keys()).toHaveLength(1);
    await update({ ...ROW, totpSecret: null, passwordHash: NEW_HASH });
    expect(await keys()).toEqual([]);
  });

  test('of anything else leaves them', async () => {
    const { earlier } = await imported();
    await update({ ...ROW, fields: { plan: 'large' } });
    expect(await undo(earlier)).toMatchObject({ undone: 'password-changed' });
  });

  test('that proves the mailbox for the first time removes what a stranger has attached', async () => {
    const unproven = { ...ROW, totpSecret: null, emailVerified: false };
    const { id } = await imported(unproven);
    const stranger = app.browser();
    await stranger
      .post('/auth/signin/credential')
      .send({ credential: ROW.email, password: WORDS })
      .expect(200);
    await app.auth.apiKeys.create(id, { name: 'of a stranger' });
    expect(await keys()).toHaveLength(1);
    await update({ ...unproven, emailVerified: true });
    await stranger.get('/auth/me').expect(401);
    expect(await keys()).toEqual([]);
    // The row's own password is there again.
    const owner = app.browser();
    await owner.post('/auth/signin/credential').send({ credential: ROW.email, password: WORDS }).expect(200);
    const { user } = (await owner.get('/auth/me').expect(200)).body;
    expect(user.email_verified_at).not.toBeNull();
  });

  test('that proves the mailbox again removes nothing', async () => {
    const { id } = await imported({ ...ROW, totpSecret: null });
    await app.auth.apiKeys.create(id, { name: 'of the user' });
    await update({ ...ROW, totpSecret: null, passwordHash: NEW_HASH });
    expect(await keys()).toHaveLength(1);
    const owner = app.browser();
    const given = { credential: ROW.email, password: NEW_WORDS };
    await owner.post('/auth/signin/credential').send(given).expect(200);
  });
});

describe('what the app’s code removes or sets', () => {
  /** A user with a password, a passkey and a linked account. */
  const person = async () => {
    const email = 'grace@example.com';
    const browser = await signedIn(app, { email, password: WORDS });
    const { id }: { id: string } = (await browser.get('/auth/me').expect(200)).body.user;
    await app.auth.markEmailVerified(id);
    const passkey = await addPasskey(browser, authenticator());
    await rows(
      app.database,
      `INSERT INTO accounts (id, user_id, provider, issuer, subject, scopes, relink_required, refreshed_at, created_at, updated_at)
       VALUES ('01890000-0000-7000-8000-000000000001', :id, 'fixed', 'https://issuer.example', 'grace', '', FALSE, :now, :now, :now)`,
      { id, now: new Date() },
    );
    return { id, passkeyId: passkey.id as string };
  };
  type Person = Awaited<ReturnType<typeof person>>;
  const REMOVALS: Record<string, (one: Person, own?: object) => Promise<unknown>> = {
    'auth.passkeys.remove': ({ id, passkeyId }, own) => app.auth.passkeys.remove(id, passkeyId, own),
    'auth.oauth.unlink': ({ id }, own) => app.auth.oauth.unlink(id, 'fixed', own),
    'auth.credential.removePassword': ({ id: userId }, own) =>
      app.auth.credential.removePassword({ userId, ...own }),
  };
  test.each(Object.keys(REMOVALS))('is final: %s', async (name) => {
    const one = await person();
    const earlier = await beforeChange(app.auth, one.id);
    await REMOVALS[name]?.(one);
    expect(await undo(earlier)).toBe('invalid_token');
    const links = 'SELECT id FROM account_changes WHERE user_id = :id AND token_hash IS NOT NULL';
    expect(await rows(app.database, links, { id: one.id })).toEqual([]);
  });

  test.each(Object.keys(REMOVALS))('is the user’s change with a session: %s', async (name) => {
    const one = await person();
    const earlier = await beforeChange(app.auth, one.id);
    await byUser(app.auth, one.id, async (own) => REMOVALS[name]?.(one, own));
    expect(await undo(earlier)).toMatchObject({ undone: 'password-changed' });
  });

  test('is final whatever code changes it, by the function through which all code goes', async () => {
    const { id } = await person();
    const earlier = await beforeChange(app.auth, id);
    const { core } = internalsOf(app.auth);
    await core.change(id, { sessionId: null }, (_record, transaction) =>
      core.users.announceChange(id, ['passkeys'], transaction),
    );
    expectProblem(
      await app.http.post('/auth/undo-change').send({ token: earlier, password: WORDS }),
      400,
      'invalid_token',
    );
  });
});

describe('in a transaction of the app', () => {
  test('a change is final even after an earlier one has failed in the same transaction', async () => {
    const { id, earlier } = await imported();
    await app.auth.users.create({ email: 'taken@example.com' });
    const sequelize = internalsOf(app.auth).core.database.sequelize;
    await sequelize.transaction(async (transaction) => {
      const refused = app.auth.users.changeEmail(id, 'taken@example.com', { transaction });
      await expect(refused).rejects.toMatchObject({ code: 'email_taken' });
      await app.auth.users.changeEmail(id, 'new@example.com', { transaction });
    });
    expect(await undo(earlier)).toBe('invalid_token');
  });

  test('an earlier change that was rolled back does not make another one final', async () => {
    const { id, earlier } = await imported();
    const sequelize = internalsOf(app.auth).core.database.sequelize;
    await sequelize.transaction(async (transaction) => {
      await sequelize.query('SAVEPOINT of_the_app', { transaction });
      await app.auth.users.setPassword(id, NEW_WORDS, { transaction });
      await sequelize.query('ROLLBACK TO SAVEPOINT of_the_app', { transaction });
      await app.auth.users.update(id, { fields: { plan: 'large' }, transaction });
    });
    expect(await undo(earlier)).toMatchObject({ undone: 'password-changed' });
  });
});
