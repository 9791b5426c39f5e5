import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as z from 'zod';
import { readForeignHash } from '../../lib/crypto/foreign-hash.js';
import { bcryptHash } from '../../lib/crypto/own-hash.js';
import { PasswordHasher } from '../../lib/crypto/password.js';
import { hideTokens } from '../../lib/crypto/token.js';
import { literal, storable } from '../../lib/database/literal.js';
import { AuthError } from '../../lib/errors.js';
import { bodyOfForm, type Pair } from '../../lib/http/forms.js';
import { describeError, kindOf } from '../../lib/logger.js';
import { changed, piecesOf, text, token, value } from './inputs.js';
import { fuzz, quickly } from './property.js';

const digits = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 64 }).map(String) },
  { weight: 1, arbitrary: fc.nat().map(String) },
  { weight: 1, arbitrary: fc.constantFrom('', '-1', '00', '1e9', '4294967296', '9'.repeat(30), '0x10') },
);
const small = fc.integer({ min: 0, max: 9 }).map(String);
const base64 = fc.oneof(
  fc.uint8Array({ minLength: 16, maxLength: 66 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.uint8Array({ maxLength: 66 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.stringMatching(/^[\w+/.=-]{0,90}$/),
);
const bare = base64.map((encoded) => encoded.replaceAll('=', ''));
const bcryptBody = fc.stringMatching(/^[./A-Za-z0-9]{53}$/);

/** Hashes in the formats of other programs, with costs from these. */
const hashes = (cost: fc.Arbitrary<string>, twoDigits: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    fc
      .tuple(fc.constantFrom('2a', '2b', '2y', '2x'), twoDigits, bcryptBody)
      .map(([a, b, c]) => `$${a}$${b}$${c}`),
    fc.tuple(twoDigits, bcryptBody).map(([b, c]) => `$bcrypt-hmac-sha384$2b$${b}$${c}`),
    fc
      .tuple(cost, cost, cost, bare, bare)
      .map(([m, t, p, s, h]) => `$argon2id$v=19$m=${m},t=${t},p=${p}$${s}$${h}`),
    fc
      .tuple(cost, cost, cost, bare, bare)
      .map(([ln, r, p, s, h]) => `$scrypt$ln=${ln},r=${r},p=${p}$${s}$${h}`),
    fc
      .tuple(
        fc.constantFrom('', '-sha1', '-sha256', '-sha512', '-md5'),
        fc.constantFrom('', 'i='),
        cost,
        bare,
        bare,
      )
      .map(([d, i, n, s, h]) => `$pbkdf2${d}$${i}${n}$${s}$${h}`),
    fc
      .tuple(fc.constantFrom('sha1', 'sha256', 'md5'), cost, text, base64)
      .map(([d, n, s, h]) => `pbkdf2_${d}$${n}$${s}$${h}`),
  );

const hostile = hashes(
  digits,
  fc.integer({ min: 0, max: 99 }).map((n) => String(n).padStart(2, '0')),
);
const cheap = hashes(
  fc.oneof(
    { weight: 3, arbitrary: small },
    { weight: 2, arbitrary: fc.integer({ min: 10, max: 17 }).map(String) },
    { weight: 1, arbitrary: fc.integer({ min: 100, max: 200_000 }).map(String) },
  ),
  fc.integer({ min: 0, max: 6 }).map((n) => `0${n}`),
);
const anyHash = fc.oneof({ weight: 4, arbitrary: hostile }, { weight: 2, arbitrary: changed(hostile) }, text);

/** What a hash asks for, as its format defines it: the bytes of memory, and how many are filled in all. */
function costOf(stored: string): { memory: number; filled: number } {
  const [, m, t] = (/^\$argon2id.*\$m=(\d+),t=(\d+),/.exec(stored) ?? []).map(Number);
  const [, ln = 0, r = 0, p = 0] = (/^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)/.exec(stored) ?? []).map(Number);
  if (m !== undefined && t !== undefined) return { memory: m * 1024, filled: m * t * 1024 };
  const block = 128 * r;
  return { memory: block * (2 ** ln + p), filled: block * 2 ** ln * p };
}

const SCHEMA = z.strictObject({
  name: z.string().optional(),
  age: z.number().optional(),
  admin: z.boolean().optional(),
  born: z.iso.datetime().optional(),
  more: z.unknown().optional(),
});

/** An error as another program might throw it. */
const thrown: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small', withCrossShrink: true }, value, tie('error')),
  error: fc
    .tuple(text, text, tie('any'), value)
    .map(([message, name, cause, code]) => Object.assign(new Error(message, { cause }), { name, code })),
})).any;

const oneLine = (line: string): void =>
  assert.doesNotMatch(line, /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);

/** What is stored or logged. */
export const stored = [
  fuzz(
    'a password hash is understood, or it is none; and a costly one says so',
    2000,
    fc.property(anyHash, (given) => {
      const parsed = quickly(() => readForeignHash(given));
      if (parsed && costOf(given).memory > 1024 ** 3) assert.equal(parsed.isTooCostly, true);
    }),
  ),
  fuzz(
    'a wrong password is wrong, whatever hash is stored',
    100,
    fc.asyncProperty(fc.oneof({ weight: 3, arbitrary: cheap }, changed(cheap)), async (given) => {
      // These would only take time.
      fc.pre(costOf(given).memory <= 32 * 1024 ** 2 && costOf(given).filled <= 32 * 1024 ** 2);
      // A new one, since each learns what the hashes cost that it has seen.
      const { matches } = await new PasswordHasher(bcryptHash(4)).verify('a wrong password', given);
      assert.equal(matches, false);
    }),
  ),
  fuzz(
    'a literal of SQL is one line of text that ends where it should',
    1000,
    fc.property(
      text,
      fc.constantFrom('sqlite' as const, 'mysql' as const, 'postgres' as const),
      (given, dialect) => {
        const sql = quickly(() => literal(dialect, given));
        oneLine(sql);
        // Every quote within it is doubled, so the first single one ends it.
        const inner = /^(?:E|_utf8mb4 x|CAST\(x)?'((?:[^']|'')*)'(?: AS TEXT\))?$/.exec(sql);
        assert.ok(inner, sql);
      },
    ),
  ),
  fuzz(
    'text of a client fits into its column',
    2000,
    fc.property(text, fc.integer({ min: 1, max: 300 }), (given, length) => {
      const kept = storable(given, length) ?? '';
      assert.ok(kept.length <= length && kept.isWellFormed() && !kept.includes('\0'));
    }),
  ),
  fuzz(
    'an error is one line in the log, whatever was thrown',
    1000,
    fc.property(thrown, (error) => {
      oneLine(quickly(() => describeError(error)));
      oneLine(quickly(() => kindOf(error)));
    }),
  ),
  fuzz(
    'no token is left in text that hides them',
    1000,
    fc.property(text, token, text, (before, one, after) => {
      if (/^lk[a-z]_[\w-]{48}$/.test(one))
        assert.ok(!hideTokens(`${before}${one}${after}`).includes(one.slice(4)));
    }),
  ),
  fuzz(
    'the fields of a form become a body, or are refused',
    2000,
    fc.property(
      fc.array(
        fc.tuple(
          fc.oneof(text, fc.constantFrom('name', 'age', 'admin', 'born', 'more', '__proto__')),
          fc.oneof(text, piecesOf(['on', '1', '.', 'e9', '{', '[', ']', '2026-01-01', 'T'], 5), value),
        ),
        { maxLength: 6 },
      ),
      (pairs) => {
        try {
          const body = quickly(() => bodyOfForm(pairs as unknown as Pair[], SCHEMA));
          assert.equal(Object.getPrototypeOf(body), Object.prototype);
          assert.deepEqual(
            Object.keys(body).filter((name) => !pairs.some(([one]) => one === name)),
            [],
          );
        } catch (error) {
          assert.ok(error instanceof AuthError && error.code === 'validation_failed', String(error));
        }
        assert.equal(({} as Record<string, unknown>).polluted, undefined);
      },
    ),
  ),
];
