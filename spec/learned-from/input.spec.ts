import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { AuthError, admin, apiKeys, canonicalEmail } from '../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';

// What contributing/learned-from.md says of input: who a request speaks for, what it may set, and what it gets to see.
const ROOT = { email: 'root@example.com', password: 'a root of all admins' };
const plugins = [password({ username: true }), apiKeys(), admin({ adminEmails: [ROOT.email] })] as const;
const fields = {
  name: { type: 'string' },
  role: { type: 'string', default: 'user', input: 'none' },
} as const;

let app: SpecApp<typeof plugins>;
let root: Awaited<ReturnType<typeof signedIn>>;
let fails = false;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      user: { fields },
      hooks: {
        afterCreateUser() {
          if (fails) throw new Error('the hook of the app has failed');
        },
      },
    } as never,
  });
  root = await signedIn(app, ROOT);
  await app.auth.markEmailVerified((await root.get('/auth/me')).body.user.id);
});
afterEach(async () => {
  fails = false;
  await rows(app.database, 'DELETE FROM users WHERE email <> :email', { email: ROOT.email });
});
afterAll(() => app.stop());

const post = (path: string, body: object) => app.http.post(`/auth${path}`).send(body);
const idOf = async (browser: Awaited<ReturnType<typeof signedIn>>) =>
  (await browser.get('/auth/me').expect(200)).body.user.id as string;

describe('a request speaks for the user of its session', () => {
  test('CVE-2024-37905: an API key cannot be given to another user, nor ended by one', async () => {
    const browser = await signedIn(app);
    const { api_key: made, key } = (await browser.post('/auth/api-keys').send({ name: 'x' }).expect(201))
      .body;
    const rootId = await idOf(root);
    for (const method of ['patch', 'put', 'post'] as const) {
      const answer = await browser[method](`/auth/api-keys/${made.id}`).send({ user_id: rootId });
      expectProblem(answer, 405, 'method_not_allowed');
    }
    const mallory = await signedIn(app, { email: 'mallory@evil.example', password: ada.password });
    expectProblem(await mallory.delete(`/auth/api-keys/${made.id}`), 404, 'api_key_not_found');
    const { body } = await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
    expect(body.user.email).toBe(ada.email);
  });
});

describe('a value is text of the right form, or it is refused before any query', () => {
  test.each([
    ['a name of a value', ':id'],
    ['names of values', ':firstName :secret :now :userId $1 ? ??'],
    ['a quote', "' OR 1=1; DROP TABLE users; --"],
    ['a backslash and a quote', "\\' OR 1=1 --;"],
    ['a double quote', '" OR ""="'],
    ['a comment', '*/ OR 1=1 /*'],
  ])('CVE-2023-25813: text that a statement could be read from is text: %s', async (_title, text) => {
    const sent = { 'user-agent': text };
    await app.http.post('/auth/signup/credential').set(sent).send(ada).expect(201);
    const credentials = { credential: ada.email, password: ada.password };
    const browser = app.browser();
    await browser.post('/auth/signin/credential').set(sent).send(credentials).expect(200);
    await browser.patch('/auth/me').send({ name: text }).expect(200);
    const { user, session } = (await browser.get('/auth/me').expect(200)).body;
    expect([user.name, session.user_agent]).toEqual([text, text]);
    for (const credential of [text, `${text}@example.com`])
      expectProblem(
        await post('/signin/credential', { ...credentials, credential }),
        401,
        'invalid_credentials',
      );
    expectProblem(
      await post('/signin/credential', { ...credentials, password: text }),
      401,
      'invalid_credentials',
    );
    const found = await root.get('/auth/admin/users').query({ search: text }).expect(200);
    expect(found.body.users).toEqual([]);
    expect(await rows(app.database, 'SELECT id FROM users')).toHaveLength(2);
  });

  test('CVE-2022-24999: a query that names a prototype or a length is refused or ignored, and quickly', async () => {
    const started = performance.now();
    for (const query of [
      'a[__proto__]=b&a[__proto__]&a[length]=100000000',
      'limit[__proto__]=1&limit[length]=100000000',
    ]) {
      const { status } = await root.get(`/auth/admin/users?${query}`);
      expect([query, [200, 400].includes(status)]).toEqual([query, true]);
    }
    expect(({} as { b?: unknown }).b).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('CVE-2024-45590, CVE-2025-13466: a form of thousands of fields is refused, and quickly', async () => {
    const forms = [
      '&a=1'.repeat(4000),
      Array.from({ length: 2500 }, (_, n) => `f${n}=`).join('&'),
      '[a]'.repeat(5000),
    ];
    const started = performance.now();
    for (const form of forms) {
      const answer = await app.http.post('/auth/signin/credential').type('form').send(form.slice(0, 16_000));
      expect([answer.status, answer.body.code]).toEqual([422, 'validation_failed']);
      expect(answer.text.length).toBeLessThan(16_000);
    }
    expectProblem(
      await app.http.post('/auth/signin/credential').type('form').send('&a=1'.repeat(25_000)),
      413,
      'body_too_large',
    );
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('CVE-2023-4316: the worst address takes no time to refuse', async () => {
    const worst = [
      `${'a.'.repeat(126)}@`,
      `${'a'.repeat(64)}@${'a-'.repeat(90)}!`,
      `a@${'a.'.repeat(120)}!`,
      `a@${`${'a'.repeat(62)}.`.repeat(3)}-`,
      `${"a'".repeat(100)}@x`,
      `a@${'xn--a.'.repeat(40)}`,
    ];
    const started = performance.now();
    for (const email of worst) {
      expect(canonicalEmail(email)).toBeNull();
      expectProblem(
        await post('/signup/credential', { email, password: ada.password }),
        422,
        'validation_failed',
      );
    }
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('CVE-2024-56143: the search of an administrator looks at no column that it does not show', async () => {
    await signedIn(app);
    const found = async (query: string) => {
      const { status, body } = await root.get(`/auth/admin/users?${query}`);
      return status === 200 ? body.users.length : status;
    };
    expect(await found('search=ada')).toBe(1);
    for (const text of ['$2', '$2b$', 'lk', '%', '_', '\\'])
      expect([text, await found(`search=${text}`)]).toEqual([text, 0]);
    // What is no parameter changes nothing, and one that is there twice is refused.
    for (const query of [
      'lookup[updatedBy][password][$startsWith]=',
      'filters[password][$startsWith]=',
      'password_hash=',
      'search[password_hash]=',
      'search=a&search=',
    ]) {
      const answers = [await found(`${query}$2`), await found(`${query}$3`)];
      expect([query, [2, 400].includes(answers[0]), answers[0] === answers[1]]).toEqual([query, true, true]);
    }
  });
});

describe('a password', () => {
  test('CVE-2024-39329: costs one hash, whether or not the account exists and has one', async () => {
    await signedIn(app);
    await app.auth.users.create({ email: 'no-password@example.com' });
    // Counts the work of the real hash.
    const { compare, hash } = bcrypt;
    const costs: number[] = [];
    Object.assign(bcrypt, {
      compare(given: string, stored: string) {
        costs.push(Number(stored.split('$')[2]));
        return compare(given, stored);
      },
      hash(given: string, cost: number) {
        costs.push(cost);
        return hash(given, cost);
      },
    });
    try {
      for (const credential of [ada.email, 'no-password@example.com', 'nobody@example.com', 'nobody']) {
        costs.length = 0;
        await post('/signin/credential', { credential, password: 'a wrong password' }).expect(401);
        expect([credential, costs]).toEqual([credential, [4]]);
      }
    } finally {
      Object.assign(bcrypt, { compare, hash });
    }
  });

  test('CVE-2018-16984: neither it nor its hash is shown to an administrator', async () => {
    const browser = await signedIn(app);
    const id = await idOf(browser);
    // Whether there is one is shown.
    for (const path of ['/admin/users', `/admin/users/${id}`, '/admin/users?search=ada'])
      expect((await root.get(`/auth${path}`).expect(200)).text).not.toMatch(/\$2|hash|"password":(?!true)/);
    for (const user of [await app.auth.admin.getUser(id), await app.auth.users.get(id)])
      expect(JSON.stringify(user)).not.toMatch(/\$2|hash/i);
    const model = await app.auth.models.User.findOne({ where: { id } });
    expect(JSON.stringify(model)).not.toMatch(/\$2|hash/i);
  });

  test('CVE-2021-21416: stands in no error and no log, when something fails while it is handled', async () => {
    fails = true;
    const secret = 'a password that must not be seen';
    const answer = await post('/signup/credential', { email: 'new@example.com', password: secret });
    expect(answer.status).toBe(500);
    let thrown: unknown;
    await app.auth.credential.signUp({ email: 'new@example.com', password: secret }).catch((error) => {
      thrown = error;
    });
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).not.toBeInstanceOf(AuthError);
    const { message, stack, ...rest } = thrown as Error;
    for (const text of [app.log.join('\n'), message, String(stack), JSON.stringify(rest)]) {
      expect(text).not.toContain(secret);
      expect(text).not.toMatch(/\$2[aby]\$/);
    }
    expect(await rows(app.database, "SELECT id FROM users WHERE email = 'new@example.com'")).toEqual([]);
  });
});
