import { createHmac, hkdfSync, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import * as z from 'zod';
import {
  type ChallengeIssuer,
  commonShape,
  type HumanCheckCommonOptions,
  type HumanCheckOptions,
} from '../config/human-check.js';
import { readOptions, schemaOf } from '../config/options.js';

/** Options of {@link altcha}. */
export interface AltchaOptions extends HumanCheckCommonOptions {
  /**
   * How many iterations of PBKDF2 one attempt takes, 100 to 100000. A browser makes 256 attempts on average, so twice the
   * cost takes it twice the time.
   * @default 1000
   */
  cost?: number;
}

/** @internal */
export const schema = () =>
  schemaOf<AltchaOptions>()({
    cost: z
      .int('must be a whole number of iterations')
      .min(100, 'must be at least 100')
      .max(100_000, 'must be at most 100000')
      .default(1000),
    ...commonShape,
  });

/** The parameters of a challenge, in the order in which they are signed. */
interface Parameters {
  readonly algorithm: 'PBKDF2/SHA-256';
  readonly cost: number;
  /** In seconds since 1970. */
  readonly expiresAt: number;
  /** The length of the derived key, in bytes. */
  readonly keyLength: number;
  /** The digits that the derived key starts with, in hex. */
  readonly keyPrefix: string;
  readonly nonce: string;
  readonly salt: string;
}

const LIFETIME_SECONDS = 10 * 60;
const ALGORITHM = 'PBKDF2/SHA-256';
const KEY_BYTES = 32;
/** One attempt of 256 finds it. */
const PREFIX = '00';

const derive = promisify(pbkdf2);

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`));

/** A solution, as ALTCHA's widget sends it. Only what the signature covers is read. */
const payload = z.object({
  challenge: z.object({
    parameters: z.object({
      algorithm: z.literal(ALGORITHM),
      cost: z.int(),
      expiresAt: z.int(),
      keyLength: z.literal(KEY_BYTES),
      keyPrefix: z.literal(PREFIX),
      nonce: hex(16),
      salt: hex(16),
    }),
    signature: hex(32),
  }),
  solution: z.object({ counter: z.int().min(0).max(0xffff_ffff), derivedKey: hex(KEY_BYTES) }),
});

/**
 * Lets browsers solve a small task before they create an account or request an email. It needs no third party, and users
 * see nothing of it. latchkey issues the tasks in the format of ALTCHA, version 2, at GET `/human-challenge`.
 *
 * @throws TypeError on invalid options
 *
 * @see https://altcha.org/docs/v2/
 */
export function altcha(options: AltchaOptions = {}): HumanCheckOptions {
  const { cost, routes, onFailure } = readOptions('altcha', schema, options);
  const verify = () => {
    throw new TypeError('latchkey: altcha() checks nothing by itself: set humanCheck to its result');
  };
  const issuer = (secrets: readonly string[]) => new Altcha(secrets, cost);
  return {
    verify: Object.assign(verify, { builtIn: { name: 'altcha' as const, issuer } }),
    ...(routes && { routes }),
    onFailure,
  };
}

/** Issues challenges of ALTCHA. Nothing about them is stored, because they are signed. */
class Altcha implements ChallengeIssuer {
  readonly #keys: readonly string[];

  constructor(
    secrets: readonly string[],
    private readonly cost: number,
  ) {
    this.#keys = secrets.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'latchkey human challenges', 32)).toString('hex'),
    );
  }

  issue(now: number): object {
    const parameters: Parameters = {
      algorithm: ALGORITHM,
      cost: this.cost,
      expiresAt: Math.floor(now / 1000) + LIFETIME_SECONDS,
      keyLength: KEY_BYTES,
      keyPrefix: PREFIX,
      nonce: randomBytes(16).toString('hex'),
      salt: randomBytes(16).toString('hex'),
    };
    const [key = ''] = this.#keys;
    return { parameters, signature: sign(parameters, key).toString('hex') };
  }

  async verify(token: string, now: number): Promise<string | null> {
    const { data } = payload.safeParse(read(token));
    if (!data) return null;
    const { challenge, solution } = data;
    const { algorithm, cost, expiresAt, keyLength, keyPrefix, nonce, salt } = challenge.parameters;
    // The signature covers the parameters in this order.
    const parameters = { algorithm, cost, expiresAt, keyLength, keyPrefix, nonce, salt };
    const signature = Buffer.from(challenge.signature, 'hex');
    const isSigned = this.#keys.some((key) => timingSafeEqual(signature, sign(parameters, key)));
    if (!isSigned || now / 1000 >= expiresAt || !solution.derivedKey.startsWith(keyPrefix)) return null;
    const attempt = Buffer.concat([Buffer.from(nonce, 'hex'), Buffer.alloc(4)]);
    attempt.writeUInt32BE(solution.counter, 16);
    const derived = await derive(attempt, Buffer.from(salt, 'hex'), cost, keyLength, 'sha256');
    return timingSafeEqual(derived, Buffer.from(solution.derivedKey, 'hex')) ? challenge.signature : null;
  }
}

/** Signs parameters as ALTCHA's libraries do: their JSON, with sorted keys, and a key that is a string. */
function sign(parameters: Parameters, key: string): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parameters)).digest();
}

/** Decodes a token. Anyone can send anything, so this never throws. */
function read(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64').toString());
  } catch {
    return null;
  }
}
