import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, createAuth } from '../../../lib/index.js';
import { UsernameRules } from '../../../lib/users/usernames.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../../support/app.js';
import { importUsers } from '../../support/import-users.js';
import { expectProblem } from '../../support/problem.js';

const of = (pattern: RegExp, typed: unknown) => new UsernameRules(pattern).canonical(typed);
const WORD = /[\p{L}\p{M}\p{N} .-]+/u;

describe('the rule of a usernamePattern', () => {
  test.each([
    ['Ada', 'ada'],
    ['ÅSA', 'åsa'],
    ['A\u030aSA', 'åsa'],
    ['ａｄａ', 'ada'],
    ['ﬁve', 'five'],
    ['\u212aelvin', 'kelvin'],
    ['Ada Lovelace', 'ada lovelace'],
    ['Straße', 'straße'],
    ['Эйлер', 'эйлер'],
    ['関孝和', '関孝和'],
    ['a'.repeat(100), 'a'.repeat(100)],
    ['😀', null],
    ['a'.repeat(101), null],
    ['\ufdfa'.repeat(10), null],
    ['x'.repeat(10_000_000), null],
    ['', null],
    [' ada', null],
    ['ada ', null],
    ['\u3000ada', null],
    ['ada  l', null],
    ['ada\u00a0\u00a0l', null],
    ['ada\u2028l', null],
    ['ada\u1680l', null],
    ['ada\tl', null],
    ['ada\nl', null],
    ['ada\0', null],
    ['ada\u200b', null],
    ['a\u202eda', null],
    ['ada\u00ad', null],
    ['ada\u034f', null],
    ['ada\u3164', null],
    ['\ud800ada', null],
    ['\ue000', null],
    ['ada@example.com', null],
    ['ada＠example.com', null],
    ['ada﹫example.com', null],
    [7, null],
    [null, null],
    [['ada'], null],
  ])('converts %j to %j', (typed, canonical) => {
    expect(of(WORD, typed)).toBe(canonical);
    if (canonical !== null) expect(of(WORD, canonical)).toBe(canonical);
  });

  test.each([
    [/[a-z]+/, 'ada1'],
    [/^[a-z]+/, 'ada1'],
    [/[a-z]+$/, '1ada'],
    [/^ada|grace$/, 'ada1'],
    [/^[a-z]+$/m, 'ada\n1'],
    [/[A-Z]+/, 'ADA'],
    [/@?/, '@'],
    [/.*/s, 'a@b'],
  ])('matches the whole name: %s does not accept %j', (pattern, typed) => {
    expect(of(pattern, typed)).toBeNull();
  });

  test('forgets what a pattern with g or y matched before', () => {
    for (const pattern of [/[a-z]{3}/g, /[a-z]{3}/y]) {
      const rules = new UsernameRules(pattern);
      expect([1, 2, 3].map(() => rules.canonical('ada'))).toEqual(['ada', 'ada', 'ada']);
      expect(pattern.lastIndex).toBe(0);
    }
  });
});

describe('usernamePattern', () => {
  let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof admin>]>;
  beforeAll(async () => {
    app = await startApp({
      plugins: [
        password({ identifier: 'username', usernamePattern: WORD }),
        admin({ adminEmails: ['root@example.com'] }),
      ],
    });
  });
  afterAll(() => app.stop());

  const signUp = (username: string) =>
    app.http.post('/auth/signup/credential').send({ username, password: ada.password });
  const signIn = (credential: string) =>
    app.http.post('/auth/signin/credential').send({ credential, password: ada.password });

  test('stores one form of a name, by which all spellings sign in', async () => {
    const { body } = await signUp('A\u030aSA Ｂ').expect(201);
    expect(body.user.username).toBe('åsa b');
    for (const spelling of ['åsa b', 'ÅSA B', 'a\u030asa ｂ'])
      expect((await signIn(spelling).expect(200)).body.user.id).toBe(body.user.id);
    expectProblem(await signUp('ÅSA B'), 409, 'username_taken');
    // Databases whose collation ignores accents or widths would take them for the same.
    await signUp('asa b').expect(201);
    await signUp('åsa-b').expect(201);
    expectProblem(await signIn('asa  b'), 401, 'invalid_credentials');
    expect((await app.auth.users.find({ username: 'ÅSA Ｂ' }))?.id).toBe(body.user.id);
    const { users } = await app.auth.admin.listUsers({ search: 'A\u030aSA Ｂ' });
    expect(users.map(({ id }) => id)).toEqual([body.user.id]);
  });

  test('stores 100 characters of any alphabet, and refuses 101', async () => {
    const name = '関'.repeat(99);
    expect((await signUp(`${name}和`).expect(201)).body.user.username).toBe(`${name}和`);
    expect((await signIn(`${name}和`)).status).toBe(200);
    expectProblem(await signUp(`${name}和和`), 422, 'validation_failed');
  });

  test('applies to imports and checks of a username, and refuses the username as a password', async () => {
    const { users, skipped } = await importUsers(app.auth, [{ username: 'Ärger' }, { username: 'no@mail' }]);
    expect([users.length, skipped.map(({ code }) => code)]).toEqual([1, ['invalid_username']]);
    const check = (username: string) => app.http.post('/auth/usernames/check').send({ username });
    expect((await check('ÄRGER').expect(200)).body).toEqual({ available: false });
    expectProblem(await check('a_b'), 422, 'validation_failed');
    const answer = await app.http
      .post('/auth/signup/credential')
      .send({ username: 'Gödel-Escher', password: 'ＧÖDEL-escher' });
    expect(expectProblem(answer, 422, 'validation_failed').errors).toMatchObject([
      { pointer: '/password', code: 'password_is_identifier' },
    ]);
  });

  test('lets users sign in whose name a new pattern would refuse', async () => {
    await signUp('old name').expect(201);
    const stricter = createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      plugins: [password({ identifier: 'username', usernamePattern: /[a-z]+/ })],
    });
    const input = { credential: 'Old Name', password: ada.password };
    expect((await stricter.credential.signIn(input)).user.username).toBe('old name');
    await stricter.close();
  });
});
