import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { chromium } from 'playwright-core';
import { TSC } from '../support/compiler.js';
import { rows, type SpecDatabase } from '../support/database.js';
import { describeMove, statementsOf } from '../support/moved-app.js';
import { type Answer, Visitor } from '../support/pages.js';

const SECRET = 'a secret for specs, of 32 bytes and more';
const ada = { email: 'Ada@Example.com', handle: 'Ada_L', password: 'an analytical engine' };
const grace = { email: 'grace@example.com', handle: 'grace', password: 'a moth in a relay' };
const joan = { email: 'joan@example.com', handle: 'joan', password: 'a colossus of valves' };
const mary = { email: 'mary@example.com', handle: 'Mary', password: 'a mechanism of the heavens' };

/** A program that calls the API, with the token of its latest sign-in. */
class Client {
  readonly #visitor: Visitor;
  #token = '';

  constructor(url: string) {
    this.#visitor = new Visitor(url);
  }

  /** The token of its latest sign-in. */
  get token(): string {
    return this.#token;
  }

  async call(method: string, path: string, body?: object, token = this.#token): Promise<Answer> {
    const headers = {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const answer = await this.#visitor.send(method, `/api${path}`, body && JSON.stringify(body), headers);
    this.#token = /"token":"([^"]+)"/.exec(answer.body)?.[1] ?? this.#token;
    // Tokens are not alike in the two apps, nor from one sign-in to the next.
    return { ...answer, body: answer.body.replace(/("token":")[^"]+/, '$1…') };
  }

  signIn({ email, password }: typeof ada): Promise<Answer> {
    return this.call('POST', '/users/login', { user: { email, password } });
  }
}

/** What has happened before the move. The first user is made an administrator, as by hand. */
async function seed(url: string, database: SpecDatabase): Promise<void> {
  for (const person of [ada, grace, joan]) {
    const client = new Client(url);
    expect(await client.call('POST', '/users', { user: person })).toMatchObject({ status: 201 });
    await client.call('POST', '/articles', { article: { title: `By ${person.handle}`, body: 'Text' } });
  }
  await rows(database, "UPDATE users SET role = 'admin' WHERE id = 1");
}

async function scenario(url: string, note: (answer: Promise<Answer>) => Promise<void>): Promise<void> {
  const nobody = new Client(url);
  for (const path of [
    '/articles',
    '/profiles/Ada_L',
    '/profiles/nobody',
    '/user',
    '/admin/users',
    '/nowhere',
  ]) {
    await note(nobody.call('GET', path));
  }
  for (const token of ['junk', 'a.b.c']) await note(nobody.call('GET', '/user', undefined, token));
  for (const [method, path] of [
    ['POST', '/articles'],
    ['DELETE', '/articles/1'],
    ['PUT', '/user'],
    ['PATCH', '/admin/users/1'],
    ['DELETE', '/admin/users/1'],
  ] as const) {
    await note(nobody.call(method, path, {}));
  }
  await note(nobody.signIn({ ...ada, password: 'a wrong guess' }));
  await note(nobody.signIn({ ...ada, email: 'nobody@example.com' }));
  await note(nobody.call('POST', '/users/login', {}));
  for (const user of [
    { ...grace, email: 'grace' },
    { ...grace, email: 'new@example.com', handle: 'not a handle' },
    { ...grace, email: 'new@example.com', handle: 'new', password: 'short' },
    {},
  ]) {
    await note(nobody.call('POST', '/users', { user }));
  }

  const author = new Client(url);
  await note(author.signIn(grace));
  await note(author.call('GET', '/user'));
  await note(author.call('POST', '/articles', { article: { title: 'New', body: 'Text' } }));
  await note(author.call('POST', '/articles', { article: {} }));
  await note(author.call('DELETE', '/articles/1'));
  await note(author.call('DELETE', '/articles/99'));
  await note(author.call('DELETE', '/articles/4'));
  await note(author.call('GET', '/admin/users'));
  await note(author.call('PUT', '/user', { user: { bio: 'Compilers' } }));
  await note(author.call('PUT', '/user', { user: { handle: 'Amazing_Grace' } }));
  await note(
    author.call('PUT', '/user', { user: { email: 'Hopper@example.com', password: 'a nanosecond of wire' } }),
  );
  await note(author.call('GET', '/user'));
  await note(author.call('GET', '/profiles/Amazing_Grace'));
  await note(author.signIn(grace));
  await note(author.signIn({ ...grace, email: 'hopper@EXAMPLE.com', password: 'a nanosecond of wire' }));

  const boss = new Client(url);
  await note(boss.signIn(ada));
  await note(boss.call('GET', '/admin/users'));
  await note(boss.call('PATCH', '/admin/users/3', { user: { role: 'admin' } }));
  await note(boss.call('PATCH', '/admin/users/3', { user: { role: 'king' } }));
  await note(boss.call('PATCH', '/admin/users/99', { user: { role: 'admin' } }));
  const other = new Client(url);
  await note(other.signIn(joan));
  await note(other.call('GET', '/admin/users'));
  // Refused while she has an article.
  await note(boss.call('DELETE', '/admin/users/3'));
  await note(other.call('GET', '/user'));
  await note(boss.call('DELETE', '/articles/3'));
  await note(boss.call('DELETE', '/admin/users/3'));
  await note(boss.call('DELETE', '/admin/users/99'));
  await note(other.call('GET', '/user'));
  await note(other.signIn(joan));

  const newcomer = new Client(url);
  await note(newcomer.call('POST', '/users', { user: mary }));
  await note(newcomer.call('GET', '/user'));
  await note(newcomer.call('POST', '/articles', { article: { title: 'By Mary', body: 'Text' } }));
  await note(nobody.call('GET', '/articles'));
  for (const taken of [
    { ...mary, handle: 'Mary2' },
    { ...mary, email: 'mary2@example.com' },
    { ...mary, email: 'ADA@example.com', handle: 'Ada2' },
  ]) {
    await note(nobody.call('POST', '/users', { user: taken }));
  }
  await note(newcomer.call('PUT', '/user', { user: { email: 'ada@example.com' } }));
  await note(newcomer.call('PUT', '/user', { user: { handle: 'Ada_L' } }));
  await note(newcomer.call('GET', '/user'));
  await note(boss.call('GET', '/admin/users'));
}

const envOf = ({ url }: SpecDatabase) => ({ DATABASE_URL: url, JWT_SECRET: SECRET, AUTH_SECRET: SECRET });

// What refers to which user, before and after; afterwards by the account that the user has.
const REFERENCES = `SELECT a.id AS id, a.author_id AS author_id, u.email AS email
  FROM articles a JOIN users u ON u.id = a.author_id ORDER BY a.id`;
const REFERENCES_TO_ACCOUNTS = `SELECT a.id AS id, a.author_id AS author_id, u.email AS email FROM articles a
  JOIN users r ON r.id = a.author_id JOIN auth_users u ON u.id = r.auth_id AND u.email = r.email ORDER BY a.id`;
describeMove(
  {
    name: 'json-api',
    server: 'server.ts',
    config: 'auth.ts',
    env: envOf,
    seed,
    scenario,
    statuses: [200, 201, 204, 401, 403, 404, 409, 422],
    references: REFERENCES,
    referencesToAccounts: REFERENCES_TO_ACCOUNTS,
    referenceCount: 3,
    mayCostMore: /^(POST .api.users(.login)?|PUT .api.user|DELETE .api.admin.users.*)$/,
  },
  (it) => {
    test('a guarded request takes one statement, as before', () => {
      expect(statementsOf(it, 'GET /api/user')).toEqual([1, 1]);
    });

    test('what is new: revocation, and API keys for programs', async () => {
      const client = new Client(it.app.url);
      await client.signIn(ada);
      const authorization = `Bearer ${client.token}`;
      const visitor = new Visitor(it.app.url, { authorization, 'content-type': 'application/json' });
      const made = await visitor.send('POST', '/auth/api-keys', JSON.stringify({ name: 'a program' }));
      const { key } = JSON.parse(made.body);
      const program = new Visitor(it.app.url, { 'x-service-api-key': key });
      expect(JSON.parse((await program.get('/api/user')).body).user).toMatchObject({ id: 1, role: 'admin' });
      expect(await program.get('/api/admin/users')).toMatchObject({ status: 200 });
      expect((await visitor.send('POST', '/auth/signout')).status).toBe(204);
      expect(await client.call('GET', '/user')).toMatchObject({ status: 401 });
      expect(await program.get('/api/user')).toMatchObject({ status: 200 });
    });

    test('nobody becomes an administrator by signing up or by changing an account', async () => {
      const eve = { email: 'eve@example.com', password: 'an apple in a garden' };
      const headers = { 'content-type': 'application/json' };
      const post = (path: string, body: object, more = {}) =>
        new Visitor(it.app.url).send('POST', path, JSON.stringify(body), { ...headers, ...more });
      expect((await post('/auth/signup/credential', { ...eve, handle: 'eve', role: 'admin' })).status).toBe(
        422,
      );
      const client = new Client(it.app.url);
      const user = { ...eve, handle: 'eve', role: 'admin', authId: 1, id: 1 };
      expect((await client.call('POST', '/users', { user })).body).toContain('"role":"author"');
      expect((await client.call('PUT', '/user', { user: { role: 'admin' } })).body).toContain(
        '"role":"author"',
      );
      expect((await client.call('GET', '/admin/users')).status).toBe(403);
    });

    const inBrowser = process.env.LATCHKEY_SPEC_BROWSER ? test : test.skip;
    inBrowser(
      'its page, which is as it was, signs in and writes',
      async () => {
        const browser = await chromium.launch({
          executablePath: process.env.LATCHKEY_SPEC_BROWSER,
          args: ['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
        });
        try {
          const page = await (await browser.newContext()).newPage();
          await page.goto(it.app.url);
          await page.getByLabel('Email').fill(ada.email);
          await page.getByLabel('Password').fill('a wrong guess');
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.getByText('email or password is invalid').waitFor();
          await page.getByLabel('Password').fill(ada.password);
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.getByText('Signed in as Ada_L').waitFor();
          await page.reload();
          await page.getByLabel('Title').fill('From the page');
          await page.getByLabel('Text').fill('Text');
          await page.getByRole('button', { name: 'Publish' }).click();
          await page.getByText('From the page by Ada_L').waitFor();
        } finally {
          await browser.close();
        }
      },
      180_000,
    );
  },
  (installed) =>
    test('npm run typecheck passes', async () => {
      for (const { folder } of [installed.before, installed.after]) {
        const { stdout } = await promisify(execFile)(process.execPath, [...TSC, '-p', folder]).catch(
          (error) => error,
        );
        expect(stdout).toBe('');
      }
    }, 180_000),
);
