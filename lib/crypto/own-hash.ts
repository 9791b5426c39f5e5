import { bcrypt } from './failure-work.js';
import { type ForeignHash, loadArgon2, readForeignHash } from './foreign-hash.js';

/** A function that hashes new passwords, with the parameters of the config. */
export interface OwnHash {
  /** The name that precedes its hashes in the database. */
  readonly scheme: string;
  /** A well-formed hash without the scheme, whose input is unknown. */
  readonly decoy: string;
  /** The cost of bcrypt that takes about as long. */
  readonly bcryptCost: number;
  /** The memory that one hash needs, in KiB. Null if it needs next to nothing. */
  readonly memory: number | null;
  /** The function and its parameters, for people. */
  readonly description: string;
  /** Loads what an app can lack, at start. @throws Error naming the package to install */
  load(): Promise<unknown>;
  /** Returns a new hash without the scheme. */
  create(input: string): Promise<string>;
  /** Whether a hash without its scheme is one of this function, with at least the configured parameters. */
  isMetBy(hash: string): boolean;
}

/** The parameters of argon2id, with one lane. */
export interface Argon2Parameters {
  /** In KiB. */
  readonly memory: number;
  readonly iterations: number;
}

/** The lowest and the highest parameters in the config. The lowest are OWASP's: Password Storage Cheat Sheet. */
export const BCRYPT_COST = { min: 4, max: 20 } as const;
export const ARGON2_MEMORY = { min: 19_456, max: 1_048_576 } as const;
export const ARGON2_ITERATIONS = { min: 2, max: 20 } as const;

const BCRYPT = '$bcrypt-hmac-sha384';
const ARGON2ID = '$argon2id-hmac-sha384';
/** The cost of bcrypt that takes about as long as argon2id with the lowest parameters. */
const BCRYPT_COST_OF_ARGON2 = 7;

const BCRYPT_HASH = /^\$2b\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const ARGON2_HASH = /^\$argon2id\$v=19\$m=(\d{4,7}),t=(\d{1,2}),p=1\$[\w+/]{22}\$[\w+/]{43}$/;

/** bcrypt. @param cost each step doubles the work */
export function bcryptHash(cost: number): OwnHash {
  return {
    scheme: BCRYPT,
    decoy: `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`,
    bcryptCost: cost,
    memory: null,
    description: `bcrypt with cost ${cost}`,
    // It is installed with latchkey, and loaded with the first password.
    load: async () => undefined,
    create: async (input) => (await bcrypt()).hash(input, cost),
    isMetBy: (hash) => costOf(hash) >= cost,
  };
}

/** argon2id with one lane. */
export function argon2idHash({ memory, iterations }: Argon2Parameters): OwnHash {
  const work = (memory * iterations) / (ARGON2_MEMORY.min * ARGON2_ITERATIONS.min);
  return {
    scheme: ARGON2ID,
    decoy: `$argon2id$v=19$m=${memory},t=${iterations},p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`,
    bcryptCost: BCRYPT_COST_OF_ARGON2 + Math.round(Math.log2(work)),
    memory,
    description: `argon2id with ${memory} KiB and ${iterations} iterations`,
    load: loadArgon2,
    async create(input) {
      const { hash } = await loadArgon2();
      return hash(input, { memoryCost: memory, timeCost: iterations, parallelism: 1 });
    },
    isMetBy(hash) {
      const found = parametersOf(hash);
      return found.memory >= memory && found.iterations >= iterations;
    },
  };
}

/**
 * Parses a hash that follows one of the schemes. Parameters that no config allows would occupy the process for too
 * long, so they are invalid.
 *
 * @returns null if it is invalid
 */
export function readOwnHash(scheme: string, hash: string): ForeignHash | null {
  const isValid = scheme === BCRYPT ? isBcrypt(hash) : scheme === ARGON2ID && isArgon2(hash);
  return isValid ? readForeignHash(hash) : null;
}

function isBcrypt(hash: string): boolean {
  return isWithin(costOf(hash), BCRYPT_COST);
}

function isArgon2(hash: string): boolean {
  const { memory, iterations } = parametersOf(hash);
  return isWithin(memory, ARGON2_MEMORY) && isWithin(iterations, ARGON2_ITERATIONS);
}

/** NaN if it is not a hash of bcrypt. */
function costOf(hash: string): number {
  return Number(BCRYPT_HASH.exec(hash)?.[1]);
}

/** NaN if it is not a hash of argon2id. */
function parametersOf(hash: string): Argon2Parameters {
  const [, memory, iterations] = ARGON2_HASH.exec(hash) ?? [];
  return { memory: Number(memory), iterations: Number(iterations) };
}

function isWithin(value: number, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return value >= min && value <= max;
}
