import { pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto';
import { Agent, request } from 'node:http';
import { hash as argon2id } from '@node-rs/argon2';
import bcrypt from 'bcrypt';
import { argon2idHash, bcryptHash } from '../../lib/crypto/own-hash.js';
import { PasswordHasher } from '../../lib/crypto/password.js';
import { admin, type CredentialPasswordOptions, emailSignIn, suspension } from '../../lib/index.js';
import { ada, password, startApp } from './app.js';
import { startMailApp } from './mail-app.js';

/** The median duration of each kind of request, in milliseconds. The durations must not differ. */
export type Medians = Record<string, number>;

/** How far the medians are apart: 0.05 is 5 %. */
export function spread(medians: Medians): number {
  const values = Object.values(medians);
  return Math.max(...values) / Math.min(...values) - 1;
}

/** Runs each kind of request `tries` times, in turn. @param before runs before each request; its time is not counted */
async function measure(
  tries: number,
  kinds: Record<string, (index: number) => PromiseLike<unknown>>,
  before: Record<string, () => PromiseLike<unknown>> = {},
): Promise<Medians> {
  const durations: Record<string, number[]> = Object.fromEntries(
    Object.keys(kinds).map((name) => [name, []]),
  );
  // The first runs of each kind are not counted, because they open connections and compile code.
  for (let index = -3; index < tries; index++) {
    for (const [name, attempt] of Object.entries(kinds)) {
      await before[name]?.();
      const started = performance.now();
      await attempt(index);
      if (index >= 0) durations[name]?.push(performance.now() - started);
      // Work that continues after a response must not delay the next request.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return Object.fromEntries(
    Object.entries(durations).map(([name, list]) => [
      name,
      list.sort((a, b) => a - b)[Math.floor(list.length / 2)] as number,
    ]),
  );
}

/** Stored hashes of a password: with this cost, and from other programs with about 25 to 75 percent of its time. */
export async function hashesBelow(cost: number): Promise<Record<string, string>> {
  const salt = randomBytes(16);
  const phc = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  const iterations = Math.round(600_000 * 2 ** (cost - 12));
  const ln = Math.max(1, cost + 3);
  const derived = pbkdf2Sync('x', salt, iterations, 32, 'sha256');
  const scrypted = scryptSync('x', salt, 32, { N: 2 ** ln, r: 8, p: 1, maxmem: 2 ** 30 });
  const argon2 = {
    memoryCost: 19_456,
    timeCost: Math.max(1, Math.round(4 * 2 ** (cost - 12))),
    parallelism: 1,
  };
  return {
    'own hash': await new PasswordHasher(bcryptHash(cost)).hash('x'),
    'own hash, two steps cheaper': await new PasswordHasher(bcryptHash(cost - 2)).hash('x'),
    'imported bcrypt, two steps cheaper': await bcrypt.hash('x', cost - 2),
    'imported PBKDF2': `$pbkdf2-sha256$${iterations}$${phc(salt)}$${phc(derived)}`,
    'imported scrypt': `$scrypt$ln=${ln},r=8,p=1$${phc(salt)}$${phc(scrypted)}`,
    'imported argon2id': await argon2id('x', argon2),
  };
}

/** Stored hashes that require more work: one with a cost one step above `cost`, and one that takes twice as long. */
export async function hashesAbove(cost: number): Promise<Record<string, string>> {
  const above = await hashesBelow(cost + 1);
  return {
    'own hash': await new PasswordHasher(bcryptHash(cost)).hash('x'),
    'own hash, one step dearer': above['own hash'] as string,
    'imported bcrypt, one step cheaper': above['imported bcrypt, two steps cheaper'] as string,
    'imported PBKDF2': above['imported PBKDF2'] as string,
  };
}

/** Stored hashes for an app with argon2id: its own, those that it replaces, and imported ones that take less time. */
export async function hashesOfArgon2(cost: number): Promise<Record<string, string>> {
  const below = await hashesBelow(cost);
  return {
    'own hash': await new PasswordHasher(argon2idHash({ memory: 19_456, iterations: 2 })).hash('x'),
    'own hash of bcrypt': below['own hash'] as string,
    'imported bcrypt, two steps cheaper': below['imported bcrypt, two steps cheaper'] as string,
    'imported PBKDF2': below['imported PBKDF2'] as string,
  };
}

/**
 * Measures failed sign-ins: an unknown account, an account without a password, a suspended and a paused account, and a
 * wrong password for each of the stored hashes.
 */
export async function measureSignIns(
  tries: number,
  options: CredentialPasswordOptions,
  hashes: Record<string, string>,
): Promise<Medians> {
  const app = await startApp({
    plugins: [password(options), admin({ adminEmails: ['root@example.com'] }), suspension()],
    config: { rateLimit: { signIn: false, account: { failures: 5, firstPause: 3600, maxPause: 3600 } } },
  });
  await app.auth.credential.signUp(ada);
  const row = (await app.auth.models.User.findOne())?.get({ plain: true });
  // Use a new account for every attempt, because otherwise all accounts would soon be paused.
  const people = (kind: number, passwordHash: string | null, suspendedAt: Date | null = null) =>
    app.auth.models.User.bulkCreate(
      Array.from({ length: tries + 3 }, (_, index) => ({
        ...row,
        id: `01900000-0000-7000-8000-${String(kind).padStart(3, '0')}${String(index).padStart(9, '0')}`,
        email: `person-${kind}-${index - 3}@example.com`,
        passwordHash,
        suspendedAt,
      })) as never,
      { logging: false },
    );
  const stored = { 'no password': null, ...hashes };
  for (const [kind, hash] of Object.values(stored).entries()) await people(kind, hash);
  const ofSuspended = Object.keys(stored).length;
  await people(ofSuspended, hashes['own hash'] ?? null, new Date());
  const signIn = (credential: string) =>
    app.http.post('/auth/signin/credential').send({ credential, password: 'a wrong password' });
  for (let index = 0; index < 5; index++) await signIn(ada.email).expect(401);
  const medians = await measure(tries, {
    unknown: (index) => signIn(`unknown-${index}@example.com`).expect(401),
    ...Object.fromEntries(
      Object.keys(stored).map((name, kind) => [
        name,
        (index: number) => signIn(`person-${kind}-${index}@example.com`).expect(401),
      ]),
    ),
    suspended: (index) => signIn(`person-${ofSuspended}-${index}@example.com`).expect(401),
    paused: () => signIn(ada.email).expect(429),
  });
  await app.stop();
  return medians;
}

/**
 * Measures reset requests for an existing and an unknown account, with a `send` that takes 250 ms, and the next request
 * on the same connection, which waits for the work that a synchronous driver does after the response.
 */
export async function measureResetRequests(tries: number): Promise<Medians[]> {
  const app = await startMailApp({
    plugins: [password()],
    config: {
      rateLimit: { mail: false, mailAddress: false },
      email: { send: () => new Promise((resolve) => setTimeout(resolve, 250)) },
    },
  });
  await app.auth.credential.signUp(ada);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = (path: string, body: object) =>
    new Promise<void>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      request(`${app.origin}/auth${path}`, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', resolve);
      })
        .on('error', reject)
        .end(JSON.stringify(body));
    });
  const requestReset = (email: string) => post('/passwords/request-reset', { email });
  const medians = await measure(tries, {
    known: () => requestReset(ada.email),
    unknown: () => requestReset('nobody@example.com'),
  });
  // This request is rejected without any work.
  const next = () => post('/signout', {});
  const followed = await measure(
    tries,
    { known: next, unknown: next },
    { known: () => requestReset(ada.email), unknown: () => requestReset('nobody@example.com') },
  );
  agent.destroy();
  await app.stop();
  return [medians, followed];
}

/**
 * Measures requests for an emailed sign-in code: for an account, a suspended account, an account that is pending
 * deletion, an address that is reserved for an undo, and an unknown address.
 */
export async function measureEmailSignIns(tries: number): Promise<Medians> {
  const app = await startMailApp({
    plugins: [password(), emailSignIn(), admin({ adminEmails: ['root@example.com'] }), suspension()],
    config: {
      rateLimit: { mail: false, mailAddress: false },
      accountDeletion: { graceDays: 30 },
      email: { send: () => undefined },
    },
  });
  const { auth } = app;
  const made = async (name: string) =>
    (await auth.users.create({ email: `${name}@example.com`, emailVerified: true })).id;
  await made('known');
  await auth.suspension.suspend(await made('suspended'));
  await auth.users.delete(await made('closed'));
  const userId = await made('held');
  await auth.models.AccountChange.create({
    ...{
      id: '01900000-0000-7000-8000-000000000001',
      userId,
      kind: 'email-changed',
      email: 'held@example.com',
    },
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  } as never);
  await auth.models.User.update({ email: 'moved@example.com' }, { where: { id: userId } });
  const ask = (name: string) => () =>
    app.http
      .post('/auth/signin/email')
      .send({ email: `${name}@example.com` })
      .expect(202);
  const names = ['known', 'suspended', 'closed', 'held', 'unknown'];
  const medians = await measure(tries, Object.fromEntries(names.map((name) => [name, ask(name)])));
  await app.stop();
  return medians;
}
