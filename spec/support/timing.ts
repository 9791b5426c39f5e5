import { ada, password, startApp } from './app.js';
import { startMailApp } from './mail-app.js';

/** The median duration of each kind of request, in milliseconds. The durations must not differ. */
export type Medians = Record<string, number>;

/** How far the medians are apart: 0.05 is 5 %. */
export function spread(medians: Medians): number {
  const values = Object.values(medians);
  return Math.max(...values) / Math.min(...values) - 1;
}

/** Runs each kind of request `tries` times, in turn. */
async function measure(
  tries: number,
  kinds: Record<string, (index: number) => PromiseLike<unknown>>,
): Promise<Medians> {
  const durations: Record<string, number[]> = Object.fromEntries(
    Object.keys(kinds).map((name) => [name, []]),
  );
  // The first runs of each kind are not counted, because they open connections and compile code.
  for (let index = -3; index < tries; index++) {
    for (const [name, attempt] of Object.entries(kinds)) {
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

/**
 * Measures failed sign-ins: an unknown account, a wrong password, an account without a password, and a paused
 * account.
 */
export async function measureSignIns(tries: number, bcryptCost: number): Promise<Medians> {
  const app = await startApp({
    plugins: [password({ bcryptCost })],
    config: { rateLimit: { signIn: false, account: { failures: 5, firstPause: 3600, maxPause: 3600 } } },
  });
  await app.auth.credential.signUp(ada);
  const row = (await app.auth.models.User.findOne())?.get({ plain: true });
  // Uses a new account for every attempt, because otherwise all accounts would soon be paused.
  const people = (name: string, passwordHash: string | null) =>
    app.auth.models.User.bulkCreate(
      Array.from({ length: tries + 3 }, (_, index) => ({
        ...row,
        id: `01900000-0000-7000-8000-${name.charCodeAt(0)}${String(index).padStart(9, '0')}`,
        email: `${name}-${index - 3}@example.com`,
        passwordHash,
      })) as never,
      { logging: false },
    );
  await people('wrong', row?.passwordHash ?? null);
  await people('none', null);
  const signIn = (credential: string) =>
    app.http.post('/auth/signin/credential').send({ credential, password: 'a wrong password' });
  for (let index = 0; index < 5; index++) await signIn(ada.email).expect(401);
  const medians = await measure(tries, {
    unknown: (index) => signIn(`unknown-${index}@example.com`).expect(401),
    wrong: (index) => signIn(`wrong-${index}@example.com`).expect(401),
    'no password': (index) => signIn(`none-${index}@example.com`).expect(401),
    paused: () => signIn(ada.email).expect(429),
  });
  await app.stop();
  return medians;
}

/** Measures reset requests for an existing and an unknown account, with a `send` that takes 250 ms. */
export async function measureResetRequests(tries: number): Promise<Medians> {
  const app = await startMailApp({
    plugins: [password()],
    config: {
      rateLimit: { mail: false },
      email: { send: () => new Promise((resolve) => setTimeout(resolve, 250)) },
    },
  });
  await app.auth.credential.signUp(ada);
  const request = (email: string) =>
    app.http.post('/auth/passwords/request-reset').send({ email }).expect(202);
  const medians = await measure(tries, {
    known: () => request(ada.email),
    unknown: () => request('nobody@example.com'),
  });
  await app.stop();
  return medians;
}
