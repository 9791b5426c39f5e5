import { pbkdf2Sync } from 'node:crypto';
import type { SpecApp } from './app.js';

/** A challenge in ALTCHA's format. */
export interface Challenge {
  readonly parameters: Readonly<Record<'nonce' | 'salt' | 'keyPrefix', string>> &
    Readonly<Record<'cost' | 'keyLength' | 'expiresAt', number>>;
  readonly signature: string;
}

/** The first right solution of a challenge, or the one after it, and so on. */
export function solutionOf(challenge: Challenge, skip = 0): { counter: number; derivedKey: string } {
  const { nonce, salt, cost, keyLength, keyPrefix } = challenge.parameters;
  const attempt = Buffer.concat([Buffer.from(nonce, 'hex'), Buffer.alloc(4)]);
  let left = skip;
  for (let counter = 0; ; counter++) {
    attempt.writeUInt32BE(counter, 16);
    const key = pbkdf2Sync(attempt, Buffer.from(salt, 'hex'), cost, keyLength, 'sha256').toString('hex');
    if (key.startsWith(keyPrefix) && left-- === 0) return { counter, derivedKey: key };
  }
}

/** The token of a solution, as ALTCHA's widget writes it. */
export function tokenOf(challenge: object, solution: object): string {
  return Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
}

/** Gets a challenge and solves it. */
export async function solved({ http }: Pick<SpecApp<never>, 'http'>): Promise<string> {
  const { body } = await http.get('/auth/human-challenge').expect(200);
  return tokenOf(body, solutionOf(body as Challenge));
}

let count = 0;

/** Signs a new person up with a token of the human check. */
export function signUpWith({ http }: Pick<SpecApp<never>, 'http'>, token: string) {
  return http
    .post('/auth/signup/credential')
    .set('latchkey-human', token)
    .send({ email: `new${count++}@example.com`, password: 'an analytical engine' });
}

/** Sends 16 sign-ups at the same time, and returns how many had each status. */
export async function signUps(app: Pick<SpecApp<never>, 'http'>, tokens: (index: number) => string) {
  const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => signUpWith(app, tokens(index))));
  const statuses = answers.map(({ status }) => status).sort();
  return Object.fromEntries(
    [...new Set(statuses)].map((one) => [one, statuses.filter((it) => it === one).length]),
  );
}
