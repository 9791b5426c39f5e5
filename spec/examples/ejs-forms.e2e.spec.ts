import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { chromium } from 'playwright-core';
import { rows, type SpecDatabase } from '../support/database.js';
import { describeMove, statementsOf } from '../support/moved-app.js';
import { type Answer, Visitor } from '../support/pages.js';

const root = join(import.meta.dirname, '../..');
const SECRET = 'a secret for specs, of 32 bytes and more';
const ada = { username: 'ada', name: 'Ada Lovelace', password: 'an analytical engine' };
const grace = { username: 'grace_h', name: 'Grace <Hopper>', password: 'a moth in a relay' };
const joan = { username: 'joan', name: 'Joan Clarke', password: 'a colossus of valves' };
const mary = { username: 'mary', name: 'Mary Somerville', password: 'a mechanism of the heavens' };

/** What its users have done before the move. */
async function seed(url: string): Promise<void> {
  for (const person of [ada, grace, joan]) {
    const visitor = new Visitor(url);
    expect(await visitor.post('/register', person)).toMatchObject({ status: 302, location: '/' });
    await visitor.post('/posts', { title: `A post by ${person.username}`, body: 'Some text' });
    await visitor.post('/posts/1/comments', { body: `A comment by ${person.username}` });
  }
}

/** Every page and form, as several people use them, in an order that shows what each has changed. */
async function scenario(url: string, note: (answer: Promise<Answer>) => Promise<void>): Promise<void> {
  const nobody = new Visitor(url);
  for (const path of ['/', '/login', '/login?failed', '/register', '/posts/1', '/posts/99', '/nowhere']) {
    await note(nobody.get(path));
  }
  for (const path of ['/posts/new', '/account']) await note(nobody.get(path));
  for (const path of [
    '/posts',
    '/posts/1/comments',
    '/posts/1/delete',
    '/account',
    '/account/delete',
    '/logout',
  ]) {
    await note(nobody.post(path, { title: 'By nobody', body: 'By nobody', name: 'Nobody' }));
  }
  await note(nobody.post('/login', { username: ada.username, password: 'a wrong guess' }));
  await note(nobody.post('/login', { username: 'nobody', password: 'a wrong guess' }));
  await note(nobody.post('/login', {}));

  const one = new Visitor(url);
  await note(one.post('/login', ada));
  for (const path of ['/', '/login', '/register', '/posts/new', '/account', '/posts/1', '/posts/2']) {
    await note(one.get(path));
  }
  await note(one.post('/posts', { title: 'A new post', body: '<b>Bold</b>' }));
  await note(one.get('/posts/4'));
  await note(one.post('/posts/2/comments', { body: 'Hello, Grace' }));
  await note(one.get('/posts/2'));
  await note(one.post('/posts/2/delete'));
  await note(one.post('/posts/99/delete'));
  await note(one.post('/posts/4/delete'));
  await note(one.post('/account', { name: 'Ada King' }));
  await note(one.get('/account'));
  await note(one.post('/account/password', { current: 'a wrong guess', password: 'a difference engine' }));
  await note(one.post('/account/password', { current: ada.password, password: 'short' }));
  await note(one.post('/account/password', { current: ada.password, password: 'a difference engine' }));
  await note(one.get('/account'));
  await note(one.post('/logout'));
  await note(one.get('/account'));
  await note(one.post('/login', ada));
  await note(one.post('/login', { ...ada, password: 'a difference engine' }));
  await note(one.get('/account'));

  // Signing in while somebody else is signed in.
  await note(one.post('/login', grace));
  await note(one.get('/account'));

  const another = new Visitor(url);
  for (const form of [
    { ...ada, username: 'no spaces' },
    { ...ada, username: 'me' },
    { ...ada, username: 'new_one', name: ' ' },
    { ...ada, username: 'new_one', password: 'short' },
    {},
  ]) {
    await note(another.post('/register', form));
  }
  await note(
    another.post('/register', { username: 'Mary', name: 'Mary', password: 'a mechanism of the heavens' }),
  );
  await note(another.get('/account'));
  await note(another.post('/posts', { title: 'By Mary', body: 'Text' }));
  await note(another.post('/account/delete'));
  await note(another.get('/account'));
  await note(another.post('/login', mary));
  await note(another.post('/register', joan));

  const leaving = new Visitor(url);
  await note(leaving.post('/login', joan));
  await note(leaving.post('/account/delete'));
  await note(nobody.get('/'));
  await note(nobody.get('/posts/1'));
  await note(nobody.get('/posts/3'));
}

const envOf = ({ url }: SpecDatabase) => ({ DATABASE_URL: url, SESSION_SECRET: SECRET, AUTH_SECRET: SECRET });

// What refers to which user, before and after; afterwards by the account that the user has.
const REFERENCES = `SELECT 'post' AS kind, p.id AS id, p.user_id AS user_id, u.username AS username
    FROM posts p JOIN users u ON u.id = p.user_id
  UNION ALL SELECT 'comment', c.id, c.user_id, u.username FROM comments c JOIN users u ON u.id = c.user_id
  ORDER BY kind, id`;
const REFERENCES_TO_ACCOUNTS = REFERENCES.replaceAll(
  'u ON u.id = ',
  'r JOIN auth_users u ON u.id = r.auth_id AND r.username = u.username ON r.id = ',
);
describeMove(
  {
    name: 'ejs-forms',
    server: 'server.js',
    config: 'auth.js',
    env: envOf,
    seed,
    scenario,
    statuses: [200, 302, 403, 404, 422],
    references: REFERENCES,
    referencesToAccounts: REFERENCES_TO_ACCOUNTS,
    referenceCount: 3 + 3,
    mayCostMore: /^POST .(login|register|account.password|account.delete|logout)$/,
  },
  (it) => {
    test('a guarded page takes one statement', () => {
      expect(statementsOf(it, 'GET /posts/new')).toEqual([3, 1]);
    });

    test('a move that broke off is repeated, and says which user it cannot move', async () => {
      const created = await it.seeded();
      const [{ hash }] = (await rows(created, 'SELECT password_hash AS hash FROM users WHERE id = 2')) as [
        { hash: string },
      ];
      await rows(created, "UPDATE users SET password_hash = 'md5:0123' WHERE id = 2");
      // npx latchkey exits with 1.
      await expect(it.move(created)).rejects.toMatchObject({
        stdout: expect.stringMatching(/"rows":2,"skipped":\[\{"ref":"2","code":"unknown_hash"/),
      });
      await rows(created, 'UPDATE users SET password_hash = :hash WHERE id = 2', { hash });
      expect(await it.move(created)).toMatchObject({
        rows: 3,
        skipped: [],
        left: [/NULL$/, /DROP COLUMN/].map((one) => expect.stringMatching(one)),
      });
      expect(await it.move(created)).toMatchObject({ rows: 3, skipped: [], left: [] });
      expect(await it.references(created, REFERENCES_TO_ACCOUNTS)).toEqual(it.referencesBefore);
      const columns = await created.sequelize.getQueryInterface().describeTable('users');
      expect(Object.keys(columns)).not.toContain('password_hash');
    }, 180_000);

    test('people stay signed in, with the bridge of docs/migrating/express-session-passport.md', async () => {
      const created = await it.seeded();
      const old = await it.before.start('server.js', envOf(created));
      const one = new Visitor(old.url);
      await one.post('/login', ada);
      const before = await one.get('/account');
      expect(before.status).toBe(200);
      await old.stop();

      const guide = await readFile(join(root, 'docs/migrating/express-session-passport.md'), 'utf8');
      const [, sessions = ''] = /```js\n(\/\/ sessions\.js\n[\s\S]*?)```/.exec(guide) ?? [];
      const [, requires = '', list = ''] =
        /```js\n(const \{ movingIn[\s\S]*?)\/\/ …\n([\s\S]*?)```/.exec(guide) ?? [];
      const { folder } = it.after;
      const config = await readFile(join(folder, 'auth.js'), 'utf8');
      const future = `new Date(${Date.now() + 24 * 3_600_000})`;
      await writeFile(join(folder, 'sessions.js'), sessions.replace(/new Date\('.*?'\)/, future));
      await writeFile(
        join(folder, 'auth.js'),
        config
          .replace('const config = {', `${requires}\nconst config = {`)
          .replace(/ {2}plugins: \[.*\],\n/, list),
      );
      const packages = ['express-session', 'connect-session-sequelize'];
      const placeOf = (name: string, example = it.after) => join(example.folder, 'node_modules', name);
      for (const name of packages) await symlink(placeOf(name, it.before), placeOf(name));
      try {
        expect(await it.move(created)).toMatchObject({ rows: 3 });
        const app = await it.after.start('server.js', envOf(created));
        const same = new Visitor(app.url, { cookie: one.cookie });
        expect(await same.get('/account')).toEqual(before);
        // With latchkey's cookie alone.
        expect(same.cookie).toMatch(/^latchkey=/);
        expect(await new Visitor(app.url, { cookie: same.cookie }).get('/account')).toEqual(before);
        await app.stop();
      } finally {
        await writeFile(join(folder, 'auth.js'), config);
        for (const name of packages) await rm(placeOf(name));
      }
    }, 180_000);

    test('what is new: other sites cannot send its forms, and a new password ends other sessions', async () => {
      const one = new Visitor(it.app.url);
      const elsewhere = new Visitor(it.app.url);
      const password = 'a difference engine';
      for (const visitor of [one, elsewhere]) await visitor.post('/login', { ...ada, password });
      const attack = new Visitor(it.app.url, { cookie: one.cookie, origin: 'https://evil.example.com' });
      expect(await attack.post('/account/delete')).toMatchObject({ status: 403 });
      expect(await one.get('/account')).toMatchObject({ status: 200 });
      await one.post('/account/password', { current: password, password: ada.password });
      expect(await one.get('/account')).toMatchObject({ status: 200 });
      expect(await elsewhere.get('/account')).toMatchObject({ status: 302, location: '/login' });
      const common = await new Visitor(it.app.url).post('/register', { ...mary, password: 'password1' });
      expect(common.body).toContain('<p role="alert">The password is one of the most common passwords');
    });

    const inBrowser = process.env.LATCHKEY_SPEC_BROWSER ? test : test.skip;
    inBrowser(
      'a browser without JavaScript does it all',
      async () => {
        const browser = await chromium.launch({
          executablePath: process.env.LATCHKEY_SPEC_BROWSER,
          args: ['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
        });
        try {
          const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
          await page.goto(`${it.app.url}/register`);
          await page.getByLabel('Username').fill('emmy');
          await page.getByLabel('Name', { exact: true }).fill('Emmy Noether');
          await page.getByLabel('Password').fill('an invariant of symmetry');
          await page.getByRole('button', { name: 'Register' }).click();
          await page.getByRole('link', { name: 'Write' }).click();
          await page.getByLabel('Title').fill('On rings');
          await page.getByLabel('Text').fill('They have ideals.');
          await page.getByRole('button', { name: 'Publish' }).click();
          await page.getByText('By Emmy Noether (emmy)').waitFor();
          await page.getByRole('button', { name: 'Sign out' }).click();
          await page.getByRole('link', { name: 'Sign in' }).click();
          await page.getByLabel('Username').fill('emmy');
          await page.getByLabel('Password').fill('a wrong guess');
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.getByText('Wrong username or password.').waitFor();
          await page.getByLabel('Username').fill('emmy');
          await page.getByLabel('Password').fill('an invariant of symmetry');
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.getByRole('link', { name: 'Emmy Noether' }).click();
          await page.getByRole('button', { name: 'Delete the account' }).click();
          await page.getByRole('link', { name: 'Register' }).waitFor();
        } finally {
          await browser.close();
        }
      },
      180_000,
    );
  },
);

test('the files that the move does not touch are the same', async () => {
  const example = join(root, 'examples/ejs-forms');
  for (const file of ['posts.js', 'handler.js', 'views/header.ejs', 'views/login.ejs', 'views/account.ejs']) {
    expect(await readFile(join(example, 'after', file), 'utf8')).toBe(
      await readFile(join(example, 'before', file), 'utf8'),
    );
  }
});
