import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AuthEvents, admin, createAuth } from '../../lib/index.js';
import { UsernameRules } from '../../lib/users/usernames.js';
import { password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';

const root = { email: 'root@example.com', password: 'a root of all admins' };
const plugins = [password({ username: true }), admin({ adminEmails: [root.email] })] as const;
const mail = mailbox();
const updates: AuthEvents['user.updated'][] = [];
const told: object[] = [];
let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      baseUrl: 'http://localhost',
      email: { send: mail.send },
      hooks: {
        beforeCreateUser: ({ username, usernameDisplay }) => void told.push({ username, usernameDisplay }),
      },
    },
  });
  app.auth.on('user.updated', (event) => void updates.push(event));
});
afterAll(() => app.stop());

let count = 0;
/** Signs up with this username and a new email, and signs in. */
async function signedUp(username: string) {
  const person = { email: `user${++count}@example.com`, password: 'an analytical engine' };
  const browser = app.browser();
  const { user } = (
    await browser
      .post('/auth/signup/credential')
      .send({ ...person, username })
      .expect(201)
  ).body;
  await browser.post('/auth/signin/credential').send({ credential: username, password: person.password });
  return { ...person, browser, id: user.id as string, user };
}
/** Makes the sessions of a user too old for a change of the username. */
const age = (id: string) =>
  app.auth.models.Session.unscoped().update(
    { authenticatedAt: new Date(Date.now() - 3_600_000) },
    { where: { userId: id } },
  );
const namesOf = ({ username, username_display }: Record<string, unknown>) => [username, username_display];
const myNames = async ({ browser }: Awaited<ReturnType<typeof signedUp>>) =>
  namesOf((await browser.get('/auth/me').expect(200)).body.user);

describe('a sign-up', () => {
  test('keeps the letters that were typed, and the canonical form decides', async () => {
    const ada = await signedUp('AdaLovelace');
    expect(namesOf(ada.user)).toEqual(['adalovelace', 'AdaLovelace']);
    expect(await myNames(ada)).toEqual(['adalovelace', 'AdaLovelace']);
    expect(told.at(-1)).toEqual({ username: 'adalovelace', usernameDisplay: 'AdaLovelace' });
    const taken = { email: 'other@example.com', password: ada.password, username: 'aDALOVELACE' };
    expectProblem(await app.http.post('/auth/signup/credential').send(taken), 409, 'username_taken');
    const credentials = { credential: 'ADALOVELACE', password: ada.password };
    const { body } = await app.http.post('/auth/signin/credential').send(credentials).expect(200);
    expect(namesOf(body.user)).toEqual(['adalovelace', 'AdaLovelace']);
    expect(await app.auth.users.find({ username: 'adaLOVELACE' })).toMatchObject({
      username: 'adalovelace',
      usernameDisplay: 'AdaLovelace',
    });
  });

  test('and every other body reject the letters as a field of their own', async () => {
    const { browser, id } = await signedUp('Mass');
    const field = { username_display: 'Somebody Else' };
    const person = { email: 'mass@example.com', password: root.password, username: 'mass2', ...field };
    for (const answer of [
      await app.http.post('/auth/signup/credential').send(person),
      await browser.patch('/auth/me').send(field),
      await browser.patch('/auth/me').send({ spelling: 'MASS' }),
    ]) {
      const { errors } = expectProblem(answer, 422, 'validation_failed');
      expect(errors).toMatchObject([{ code: 'unknown_key' }]);
    }
    const given = { usernameDisplay: 'Somebody Else' } as never;
    await expect(app.auth.users.update(id, given)).rejects.toThrow(/usernameDisplay/);
    await expect(app.auth.users.create(given)).rejects.toThrow(/usernameDisplay/);
  });
});

describe('PATCH /me', () => {
  test('changes the letters without a recent sign-in, since the username stays', async () => {
    const grace = await signedUp('grace');
    await age(grace.id);
    updates.length = 0;
    const sent = mail.mails.length;
    const { body } = await grace.browser.patch('/auth/me').send({ username: 'GRACE' }).expect(200);
    expect(namesOf(body.user)).toEqual(['grace', 'GRACE']);
    expect(await myNames(grace)).toEqual(['grace', 'GRACE']);
    expect(updates).toMatchObject([{ userId: grace.id, changed: ['usernameDisplay'] }]);
    // Again: nothing changes.
    await grace.browser.patch('/auth/me').send({ username: 'GRACE' }).expect(200);
    expect(updates).toHaveLength(1);
    expect(mail.mails).toHaveLength(sent);
    const other = await grace.browser.patch('/auth/me').send({ username: 'Gracie' });
    expectProblem(other, 403, 'reauthentication_required');
    expect(await myNames(grace)).toEqual(['grace', 'GRACE']);
  });

  test('changes both with another username, which is one change', async () => {
    const joan = await signedUp('Joan');
    updates.length = 0;
    await mail.mailOf(joan.email, 'username-changed', () =>
      joan.browser.patch('/auth/me').send({ username: 'JoanC' }).expect(200),
    );
    expect(await myNames(joan)).toEqual(['joanc', 'JoanC']);
    expect(updates).toMatchObject([{ changed: ['username'] }]);
  });
});

test('an undo brings the letters back', async () => {
  const hedy = await signedUp('HedyLamarr');
  await app.auth.markEmailVerified(hedy.id);
  const { token } = await mail.mailOf(hedy.email, 'username-changed', () =>
    hedy.browser.patch('/auth/me').send({ username: 'Stolen' }).expect(200),
  );
  await app.auth.undoChange(token, { trusted: true });
  expect(await app.auth.users.get(hedy.id)).toMatchObject({
    username: 'hedylamarr',
    usernameDisplay: 'HedyLamarr',
  });
});

describe('code', () => {
  test('creates and changes users with letters', async () => {
    const user = await app.auth.users.create({ username: 'MaryS', email: 'mary@example.com' });
    expect(user).toMatchObject({ username: 'marys', usernameDisplay: 'MaryS' });
    expect(await app.auth.users.update(user.id, { username: 'mARYs' })).toMatchObject({
      usernameDisplay: 'mARYs',
    });
    expect(await app.auth.users.update(user.id, { username: null })).toMatchObject({
      username: null,
      usernameDisplay: null,
    });
    const made = await app.auth.admin.createUser({ username: 'ByAdmin' });
    expect(made).toMatchObject({ username: 'byadmin', usernameDisplay: 'ByAdmin' });
    expect(await app.auth.admin.updateUser(made.id, { username: 'BYadmin' })).toMatchObject({
      usernameDisplay: 'BYadmin',
    });
  });

  test('imports them, from a column of their own too', async () => {
    const { users, skipped } = await app.auth.importUsers([
      { username: 'FromName' },
      { username: 'from_column', usernameDisplay: 'From_Column' },
      { username: 'Of_Another', usernameDisplay: 'Somebody Else' },
      { email: 'none@example.com', usernameDisplay: 'Nobody' },
    ]);
    expect(skipped).toEqual([]);
    const found = await Promise.all(users.map(({ id }) => app.auth.users.get(id)));
    expect(found.map((user) => [user?.username, user?.usernameDisplay])).toEqual([
      ['fromname', 'FromName'],
      ['from_column', 'From_Column'],
      ['of_another', 'Of_Another'],
      [null, null],
    ]);
  });
});

test('rows in which a statement of the app has set it to null answer the canonical form everywhere', async () => {
  const old = await signedUp('OldRow');
  await rows(app.database, `UPDATE users SET username_display = NULL WHERE id = '${old.id}'`);
  expect(await myNames(old)).toEqual(['oldrow', 'oldrow']);
  expect(await app.auth.users.get(old.id)).toMatchObject({ usernameDisplay: 'oldrow' });
  await app.http.post('/auth/signup/credential').send(root).expect(201);
  await app.auth.markEmailVerified((await app.auth.users.find({ email: root.email }))?.id ?? '');
  const administrator = app.browser();
  await administrator
    .post('/auth/signin/credential')
    .send({ credential: root.email, password: root.password });
  const { body } = await administrator.get('/auth/admin/users?search=OLDROW').expect(200);
  expect(body.users.map(namesOf)).toEqual([['oldrow', 'oldrow']]);
  updates.length = 0;
  await old.browser.patch('/auth/me').send({ username: 'oldrow' }).expect(200);
  expect(updates).toEqual([]);
  await old.browser.patch('/auth/me').send({ username: 'OLDrow' }).expect(200);
  expect(await myNames(old)).toEqual(['oldrow', 'OLDrow']);
});

test('the OpenAPI document has it where there are usernames', async () => {
  const { User } = app.auth.openapi().components.schemas;
  expect(User).toMatchObject({ properties: { username_display: { type: ['string', 'null'] } } });
  const without = createAuth({ database: 'sqlite:./unused.db', secret: SECRET, plugins: [password()] });
  expect(JSON.stringify(without.openapi())).not.toContain('username_display');
  await without.close();
});

test.each([
  ['ADA', 'ADA'],
  ['ａｄａ', 'ａｄａ'],
  // NFKC makes a plain space of it, which hides what was typed.
  ['a\u00a0da', 'a da'],
  ['\u3000ada', null],
])('the letters of %j are %j', (typed, letters) => {
  const rules = new UsernameRules(/[\p{L} ]+/u);
  const username = rules.canonical(typed);
  expect(username && rules.lettersOf(username, typed)).toBe(letters);
});
