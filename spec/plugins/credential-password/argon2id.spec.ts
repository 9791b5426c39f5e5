import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { hash as argon2id } from '@node-rs/argon2';
import bcrypt from 'bcrypt';
import { type CredentialPasswordOptions, createAuth } from '../../../lib/index.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { importUsers } from '../../support/import-users.js';
import { expectProblem } from '../../support/problem.js';
import { loggingSequelize } from '../../support/statements.js';

const MEMORY = 19_456;
const OF_ARGON2 = /^\$argon2id-hmac-sha384\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/;
const OF_BCRYPT = /^\$bcrypt-hmac-sha384\$2b\$04\$/;

type App = SpecApp<readonly [ReturnType<typeof password>]>;

const started: App[] = [];
/** The first app of a spec creates the database, and the others use it with another config. */
const start = async (options: CredentialPasswordOptions = {}): Promise<App> => {
  const [first] = started;
  const config = first ? { database: first.database.url } : {};
  const app = await startApp({ plugins: [password(options)] as const, config: async () => config });
  started.push(app);
  return app;
};
afterEach(async () => {
  for (const app of started.splice(0).reverse()) await app.stop();
});

const signUp = (app: App, email = ada.email) =>
  app.http.post('/auth/signup/credential').send({ email, password: ada.password }).expect(201);
const signIn = (app: App, given = ada.password, email = ada.email) =>
  app.http.post('/auth/signin/credential').send({ credential: email, password: given });
const hashOf = async (app: App, email = ada.email) =>
  (
    await rows<{ hash: string }>(
      app.database,
      'SELECT password_hash AS hash FROM users WHERE email = :email',
      { email },
    )
  )[0]?.hash ?? '';
/** The hash in the database, which the first app has created. */
const stored = (email?: string) => hashOf(started[0] as App, email);

describe("hash: 'argon2id'", () => {
  test('hashes new passwords, and verifies them', async () => {
    const app = await start({ hash: 'argon2id' });
    await signUp(app);
    await signUp(app, 'grace@example.com');
    const first = await stored();
    expect(first).toMatch(OF_ARGON2);
    expect(await stored('grace@example.com')).not.toBe(first);
    for (const wrong of [`${ada.password} `, ada.password.toUpperCase(), first])
      expectProblem(await signIn(app, wrong), 401, 'invalid_credentials');
    await signIn(app).expect(200);
    // It has the parameters of the config, so it stays.
    expect(await stored()).toBe(first);
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    const change = { current_password: ada.password, new_password: 'a difference engine' };
    await browser.post('/auth/passwords/change').send(change).expect(200);
    expect(await stored()).toMatch(OF_ARGON2);
    expectProblem(await signIn(app), 401, 'invalid_credentials');
    await signIn(app, 'a difference engine').expect(200);
  });

  test('hashes the same input as bcrypt: every spelling of a password, and never the password alone', async () => {
    const app = await start({ hash: 'argon2id' });
    const email = 'accents@example.com';
    const words = 'crème brûlée\u00a0 au lait'.normalize('NFD');
    await app.http.post('/auth/signup/credential').send({ email, password: words }).expect(201);
    await signIn(app, words.normalize('NFC'), email).expect(200);
    await signUp(app);
    const { verify } = await import('@node-rs/argon2');
    const plain = (await stored()).replace('$argon2id-hmac-sha384', '');
    expect(await verify(plain, ada.password)).toBe(false);
  });

  test('replaces a hash of bcrypt at the next right password, and bcrypt one of argon2id', async () => {
    const before = await start();
    await signUp(before);
    const ofBcrypt = await stored();
    expect(ofBcrypt).toMatch(OF_BCRYPT);
    const moved = await start({ hash: 'argon2id' });
    expectProblem(await signIn(moved, 'a wrong password'), 401, 'invalid_credentials');
    expect(await stored()).toBe(ofBcrypt);
    await signIn(moved).expect(200);
    const ofArgon2 = await stored();
    expect(ofArgon2).toMatch(OF_ARGON2);
    await signIn(moved).expect(200);
    expect(await stored()).toBe(ofArgon2);
    expectProblem(await signIn(before, 'a wrong password'), 401, 'invalid_credentials');
    expect(await stored()).toBe(ofArgon2);
    await signIn(before).expect(200);
    expect(await stored()).toMatch(OF_BCRYPT);
    await signIn(before).expect(200);
  });

  test('replaces a hash with less memory or fewer iterations, and keeps one with more', async () => {
    const lowest = await start({ hash: 'argon2id' });
    await signUp(lowest);
    const more = await start({ hash: 'argon2id', argon2: { memory: 2 * MEMORY } });
    await signIn(more).expect(200);
    expect(await stored()).toContain(`$m=${2 * MEMORY},t=2,p=1$`);
    const longer = await start({ hash: 'argon2id', argon2: { iterations: 3 } });
    await signIn(longer).expect(200);
    expect(await stored()).toContain(`$m=${MEMORY},t=3,p=1$`);
    const both = await start({ hash: 'argon2id', argon2: { memory: 2 * MEMORY, iterations: 3 } });
    await signIn(both).expect(200);
    const highest = await stored();
    expect(highest).toContain(`$m=${2 * MEMORY},t=3,p=1$`);
    for (const app of [lowest, more, longer, both]) await signIn(app).expect(200);
    expect(await stored()).toBe(highest);
  });

  test('replaces the imported hashes of others', async () => {
    const app = await start({ hash: 'argon2id' });
    const parameters = { memoryCost: MEMORY, timeCost: 2, parallelism: 1 };
    const hashes = {
      // Its parameters are those of the config, but it is of the password alone.
      'same@example.com': await argon2id(ada.password, parameters),
      'lanes@example.com': await argon2id(ada.password, { memoryCost: 8192, timeCost: 1, parallelism: 4 }),
      'bcrypt@example.com': await bcrypt.hash(ada.password, 5),
    };
    const imported = Object.entries(hashes).map(([email, passwordHash]) => ({ email, passwordHash }));
    expect((await importUsers(app.auth, imported)).skipped).toEqual([]);
    for (const [email, hash] of Object.entries(hashes)) {
      expectProblem(await signIn(app, 'a wrong password', email), 401, 'invalid_credentials');
      expect(await stored(email)).toBe(hash);
      await signIn(app, ada.password, email).expect(200);
      expect(await stored(email)).toMatch(OF_ARGON2);
      await signIn(app, ada.password, email).expect(200);
    }
  });

  /** A hash as latchkey stores it, but with other parameters. */
  const storedWith = async (memoryCost: number, timeCost: number, parallelism = 1) => {
    const input = createHmac('sha384', 'latchkey password v1').update(ada.password).digest('base64');
    return `$argon2id-hmac-sha384${await argon2id(input, { memoryCost, timeCost, parallelism })}`;
  };
  const replaceHash = (app: App, passwordHash: string) =>
    app.auth.models.User.update({ passwordHash } as never, { where: {} });

  test('is over the HMAC of the password, whose key is public', async () => {
    const app = await start({ hash: 'argon2id' });
    await signUp(app);
    for (const [memory, iterations] of [
      [MEMORY, 2],
      [2 * MEMORY, 20],
    ] as const) {
      const hash = await storedWith(memory, iterations);
      await replaceHash(app, hash);
      await signIn(app).expect(200);
      expect(await stored()).toBe(hash);
    }
  });

  test.each([
    ['less memory than any config allows', 8192, 2, 1],
    ['fewer iterations than any config allows', MEMORY, 1, 1],
    ['more iterations than any config allows', MEMORY, 21, 1],
    ['several lanes', MEMORY, 2, 4],
  ])('matches no password if the stored hash has %s', async (_what, memory, iterations, lanes) => {
    const app = await start({ hash: 'argon2id' });
    await signUp(app);
    await replaceHash(app, await storedWith(memory, iterations, lanes));
    expectProblem(await signIn(app), 401, 'invalid_credentials');
  });

  test('matches no password if the stored hash has more memory than any config allows', async () => {
    const app = await start({ hash: 'argon2id' });
    await signUp(app);
    // Created once, of Ada's password, by `storedWith(1_048_577, 2)`, which takes seconds and a gigabyte.
    const hash =
      '$argon2id$v=19$m=1048577,t=2,p=1$cQW7ZQfvQXC14VE8eUgCeA$fuuz0QFl7frzWsO5OjkRF4Vftzhz0USBvr0IrOkMeU0';
    await replaceHash(app, `$argon2id-hmac-sha384${hash}`);
    expectProblem(await signIn(app), 401, 'invalid_credentials');
  });

  test.each([
    ['of another length', (hash: string) => hash.slice(0, -1)],
    ['of argon2i', (hash: string) => hash.replace('$argon2id$', '$argon2i$')],
    ['with the scheme of bcrypt', (hash: string) => hash.replace('$argon2id-', '$bcrypt-')],
    ['without the scheme', (hash: string) => hash.replace('$argon2id-hmac-sha384', '')],
  ])('matches no password if the stored hash is one %s', async (_how, change) => {
    const app = await start({ hash: 'argon2id' });
    await signUp(app);
    await replaceHash(app, change(await stored()));
    expectProblem(await signIn(app), 401, 'invalid_credentials');
  });

  test('concurrent sign-ins replace a hash once', async () => {
    const before = await start();
    await signUp(before);
    const moved = await start({ hash: 'argon2id' });
    const all = await Promise.all(Array.from({ length: 8 }, () => signIn(moved)));
    expect(all.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const after = await stored();
    expect(after).toMatch(OF_ARGON2);
    await signIn(moved).expect(200);
    expect(await stored()).toBe(after);
  });

  test('does not overwrite a new password with a new hash of the old one', async () => {
    const before = await start();
    await signUp(before);
    const { sequelize, statements } = loggingSequelize(before.database);
    const moved = createAuth({
      database: sequelize,
      secret: SECRET,
      rateLimit: false,
      logger: memoryLogger(),
      plugins: [password({ hash: 'argon2id', argon2: { memory: 65_536, iterations: 10 } })],
    });
    const signingIn = moved.credential.signIn({ credential: ada.email, password: ada.password });
    // The old hash has been read, and computing the new one takes a while.
    while (!statements.some((sql) => /^Executed.*SELECT.*password_hash/s.test(sql)))
      await new Promise((resolve) => setTimeout(resolve, 1));
    await replaceHash(before, 'another');
    await signingIn;
    expect(await stored()).toBe('another');
    await moved.close();
    await sequelize.close();
  });

  test('mixes in peppers, which can be rotated and added, in both directions', async () => {
    const [OLD, NEW] = ['an old pepper of 32 characters....', 'a new pepper of 32 characters.....'];
    const plain = await start({ hash: 'argon2id' });
    await signUp(plain);
    const peppered = await start({ hash: 'argon2id', pepper: OLD });
    await signIn(peppered).expect(200);
    const first = await stored();
    expect(first).toMatch(/^\$argon2id-hmac-sha384\$p=[\w-]{8}\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(first).not.toContain(OLD);
    await signIn(peppered).expect(200);
    expect(await stored()).toBe(first);
    expectProblem(await signIn(plain), 401, 'invalid_credentials');
    const rotated = await start({ hash: 'argon2id', pepper: [NEW, OLD] });
    expectProblem(await signIn(rotated, 'a wrong password'), 401, 'invalid_credentials');
    await signIn(rotated).expect(200);
    expect(await stored()).not.toBe(first);
    expectProblem(await signIn(peppered), 401, 'invalid_credentials');
    // A pepper is the same one for both functions.
    const back = await start({ pepper: NEW });
    await signIn(back).expect(200);
    expect(await stored()).toMatch(/^\$bcrypt-hmac-sha384\$p=[\w-]{8}\$2b\$04\$/);
    await signIn(await start({ hash: 'argon2id', pepper: NEW })).expect(200);
  });
});
