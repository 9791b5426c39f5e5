import { type BinaryLike, hash, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { bcrypt, type Kind } from './failure-work.js';

/** A password hash created by another program. */
export interface ForeignHash {
  readonly kind: Kind;
  /** Whether a verification would occupy the process for too long. Such a hash is never verified. */
  readonly isTooCostly: boolean;
  verify(password: string): Promise<boolean>;
}

type Scrypt = (
  password: BinaryLike,
  salt: BinaryLike,
  length: number,
  options: { N: number; r: number; p: number; maxmem: number },
) => Promise<Buffer>;

const deriveScrypt = promisify(scrypt) as Scrypt;
const derivePbkdf2 = promisify(pbkdf2);

// Limits the cost of a verification to a few seconds, because every failed sign-in will then cost as much.
const MAX_BCRYPT_COST = 16;
const MAX_PBKDF2_ITERATIONS = 5_000_000;
// PBKDF2 runs all iterations for each block of this size (RFC 8018, 5.2).
const DIGEST_BYTES: Record<string, number> = { sha1: 20, sha256: 32, sha512: 64 };
const MAX_SCRYPT_BYTES = 512 * 1024 * 1024;
const MAX_ARGON2_KIBIBYTES = 1024 * 1024;
// The memory, multiplied by how often it is filled.
const MAX_FILLED_BYTES = 4 * 1024 * 1024 * 1024;
// A shorter hash would match too many passwords.
const MIN_BYTES = 16;
/** The longest hash that can be stored. */
export const MAX_HASH_CHARACTERS = 1024;

/**
 * Parses a hash created by another program: bcrypt (`$2a$`, `$2b$`, `$2y$`), argon2id, scrypt or PBKDF2 as a PHC
 * string, the formats of Django's own hashers, and the scrypt of better-auth and Lucia. Returns null for anything else.
 */
export function readForeignHash(stored: string): ForeignHash | null {
  if (stored.length > MAX_HASH_CHARACTERS) return null;
  for (const read of READERS) {
    const found = read(stored);
    if (found) return found;
  }
  return null;
}

/** Whether verifying a hash needs the package for argon2. */
export function needsArgon2(stored: unknown): boolean {
  return typeof stored === 'string' && /^(argon2)?\$argon2id\$/.test(stored);
}

const READERS = [
  readBcrypt,
  readArgon2,
  readScrypt,
  readPbkdf2,
  readDjangoPbkdf2,
  readDjangoScrypt,
  readDjangoWrapped,
  readSaltAndKey,
];

function readBcrypt(stored: string): ForeignHash | null {
  const match = /^\$2[aby]\$(\d\d)(\$[./A-Za-z0-9]{53})$/.exec(stored);
  const cost = Number(match?.[1]);
  if (!match || cost < 4) return null;
  return {
    kind: { cost },
    isTooCostly: cost > MAX_BCRYPT_COST,
    // All three prefixes denote the same algorithm: 2b and 2y mark fixed bugs of old implementations.
    verify: async (password) => (await bcrypt()).compare(password, `$2b$${match[1]}${match[2]}`),
  };
}

function readArgon2(stored: string): ForeignHash | null {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d{1,3})\$[\w+/]+\$[\w+/]+$/.exec(stored);
  if (!match) return null;
  const [, memory, passes, lanes] = match.map(Number) as [number, number, number, number];
  return {
    kind: { parameters: `argon2id m=${memory},t=${passes},p=${lanes}` },
    isTooCostly: memory > MAX_ARGON2_KIBIBYTES || memory * 1024 * passes > MAX_FILLED_BYTES,
    async verify(password) {
      const { verify } = await loadArgon2();
      // The package throws an error if the parameters are invalid.
      return verify(stored, password).catch(() => false);
    },
  };
}

/** The functions of `@node-rs/argon2` that are used here. */
interface Argon2 {
  hash(
    input: string,
    parameters: { readonly memoryCost: number; readonly timeCost: number; readonly parallelism: number },
  ): Promise<string>;
  verify(stored: string, password: string): Promise<boolean>;
}

// The module is kept, because each `import()` of Node creates several promises.
let argon2: Argon2 | undefined;

/** Loads argon2. @throws Error naming the package to install */
export async function loadArgon2(): Promise<Argon2> {
  try {
    argon2 ??= await import('@node-rs/argon2');
    return argon2;
  } catch (cause) {
    throw new Error('latchkey: argon2id hashes need an additional package: npm install @node-rs/argon2', {
      cause,
    });
  }
}

function readScrypt(stored: string): ForeignHash | null {
  const match = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w+/.-]+)\$([\w+/.-]+)$/.exec(stored);
  if (!match) return null;
  const [, ln, r, p] = match.map(Number) as [number, number, number, number];
  return scryptHash(2 ** ln, r, p, decode(match[4]), decode(match[5]));
}

/** @see https://docs.djangoproject.com/en/5.2/topics/auth/passwords/#using-scrypt-with-django */
function readDjangoScrypt(stored: string): ForeignHash | null {
  const match = /^scrypt\$(\d+)\$([^$]+)\$(\d+)\$(\d+)\$([\w+/]+=*)$/.exec(stored);
  if (!match) return null;
  const [, n, , r, p] = match.map(Number) as [number, number, number, number, number];
  return scryptHash(n, r, p, Buffer.from(match[2] ?? ''), decode(match[5]));
}

/**
 * `salt:key` in hexadecimal digits, as better-auth and Lucia 3 write it, and the formats of earlier versions of Lucia:
 * `s2:salt:key`, and `salt:key` with a salt of 16 characters and smaller blocks. The salt is hashed as text.
 *
 * @see https://github.com/better-auth/better-auth/blob/main/packages/better-auth/src/crypto/password.ts
 * @see https://github.com/lucia-auth/lucia/blob/v2/packages/lucia/src/utils/crypto.ts
 */
function readSaltAndKey(stored: string): ForeignHash | null {
  const match = /^(s2:)?([\da-f]{32}|[\da-z]{16}):([\da-f]{128})$/.exec(stored);
  if (!match) return null;
  const [, version, salt = '', key = ''] = match;
  const blockSize = version || salt.length === 32 ? 16 : 8;
  const plain = scryptHash(16_384, blockSize, 1, Buffer.from(salt), Buffer.from(key, 'hex'));
  return plain && { ...plain, verify: (password) => plain.verify(password.normalize('NFKC')) };
}

function scryptHash(N: number, r: number, p: number, salt: Buffer, expected: Buffer): ForeignHash | null {
  // The memory for the vector, and for each of the p blocks (RFC 7914, 5 and 6).
  const memory = 128 * r * (N + p);
  const ln = Math.log2(N);
  // N must be less than 2^(128 * r / 8) (RFC 7914, 6).
  const isValid = N > 1 && Number.isInteger(ln) && ln < 16 * r && r > 0 && p > 0;
  if (!isValid || expected.length < MIN_BYTES) return null;
  const options = { N, r, p, maxmem: 2 * memory };
  return {
    kind: { parameters: `scrypt n=${N},r=${r},p=${p}` },
    isTooCostly: memory > MAX_SCRYPT_BYTES || 128 * r * N * p > MAX_FILLED_BYTES,
    verify: async (password) => equal(await deriveScrypt(password, salt, expected.length, options), expected),
  };
}

function readPbkdf2(stored: string): ForeignHash | null {
  const match =
    /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:i=)?(\d+)(?:,l=\d+)?\$([\w+/.-]+)\$([\w+/.-]+)$/.exec(stored);
  return match && pbkdf2Hash(match[1], Number(match[2]), decode(match[3]), decode(match[4]));
}

function readDjangoPbkdf2(stored: string): ForeignHash | null {
  const match = /^pbkdf2_(sha1|sha256)\$(\d+)\$([^$]+)\$([\w+/]+=*)$/.exec(stored);
  return match && pbkdf2Hash(match[1], Number(match[2]), Buffer.from(match[3] ?? ''), decode(match[4]));
}

/** Parses hashes of other libraries, which Django stores after the name of its hasher. */
function readDjangoWrapped(stored: string): ForeignHash | null {
  const [, hasher, rest = ''] = /^(argon2|bcrypt|bcrypt_sha256)\$(.+)$/.exec(stored) ?? [];
  if (hasher === 'argon2') return readArgon2(`$${rest}`);
  const plain = hasher ? readBcrypt(rest) : null;
  if (hasher !== 'bcrypt_sha256' || !plain) return plain;
  return { ...plain, verify: (password) => plain.verify(hash('sha256', password)) };
}

// If the digest is omitted, it is SHA-1.
function pbkdf2Hash(digest = 'sha1', iterations: number, salt: Buffer, expected: Buffer): ForeignHash | null {
  if (iterations < 1 || expected.length < MIN_BYTES) return null;
  const blocks = Math.ceil(expected.length / (DIGEST_BYTES[digest] ?? MIN_BYTES));
  return {
    kind: { parameters: `pbkdf2-${digest} i=${iterations},l=${expected.length}` },
    isTooCostly: iterations * blocks > MAX_PBKDF2_ITERATIONS,
    verify: async (password) =>
      equal(await derivePbkdf2(password, salt, iterations, expected.length, digest), expected),
  };
}

/** Decodes base64 as in PHC strings, or as in passlib, which writes `.` instead of `+`. */
function decode(text = ''): Buffer {
  return Buffer.from(text.replaceAll('.', '+'), 'base64');
}

function equal(actual: Buffer, expected: Buffer): boolean {
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
