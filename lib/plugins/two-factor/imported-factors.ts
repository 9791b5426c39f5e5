import type { SecondFactorSetup } from '../../accounts/second-factor.js';
import type { Core } from '../../core/core.js';
import { readCode } from '../../crypto/typed-codes.js';
import { type AuthError, invalidField } from '../../errors.js';
import type { Factors } from '../../factors/factors.js';
import { hashOfImported } from '../../factors/recovery-codes.js';
import type { Digest } from '../../tables/column.js';
import { declareRowKeys, type ImportRow, type RowReader, type RowValues } from '../../users/imported.js';

declare module '../../users/imported.js' {
  interface ImportRow {
    /**
     * The confirmed secret of the user's authenticator app, in base32: 10 to 128 bytes, for codes of 6 digits every 30 seconds
     * with SHA-1.
     * @default none, for a user without a second factor
     */
    totpSecret?: string | null | undefined;
    /** Recovery codes that have not been used, in plain text: 8 to 100 characters each. @default none */
    recoveryCodes?: readonly string[] | null | undefined;
  }
}

declareRowKeys(['totpSecret', 'recoveryCodes'], 'add twoFactor() to plugins');

// Half of the length that RFC 4226, 4 recommends, because many older apps created secrets of this length.
const MIN_BYTES = 10;
const MAX_BYTES = 128;
const MAX_CODES = 50;
const MIN_CODE = 8;
const MAX_CODE = 100;

interface ImportedFactor {
  readonly secret: string;
  readonly codes: readonly Digest[];
}

/** Reads the second factor of users from the rows of an import, and stores it. */
export function factorsOfRows(
  core: Core,
  { secrets, codes }: Factors,
  setup: SecondFactorSetup,
): RowReader<ImportedFactor> {
  return {
    keys: ['totpSecret', 'recoveryCodes'],
    async read({ totpSecret, recoveryCodes }) {
      const hashes = readCodes(recoveryCodes ?? []);
      const secret = readSecret(totpSecret);
      if (secret === null)
        throw invalidField('/totpSecret', 'invalid_totp_secret', 'is missing, but recoveryCodes require it');
      return { secret, codes: hashes };
    },
    columnsOf: () => ({ secondFactorAt: core.database.clock.date() }),
    identitiesOf: ({ codes: hashes }) => hashes.map(identityOf),
    takenAmong: async (all, transaction) => {
      const hashes = all.flatMap((one) => one.codes);
      return (await codes.known(hashes, transaction)).map(identityOf);
    },
    taken: {
      code: 'recovery_code_taken',
      detail:
        'another user already has one of these recoveryCodes: leave it out, so that each code belongs to one user',
    },
    async write(factors, transaction) {
      const all = [...factors];
      const sealed = all.map(([userId, { secret }]) => [userId, secret] as const);
      await secrets.insert(sealed, transaction);
      await codes.insert(
        all.flatMap(([userId, one]) => one.codes.map((codeHash) => ({ codeHash, userId }))),
        transaction,
      );
    },
    valuesOf,
    async valuesNow({ user: { id } }, transaction) {
      const row = await secrets.find(id, transaction);
      // A code that was used here is still in the row.
      return row ? valuesOf({ secret: secrets.open(row), codes: await codes.allOf(id, transaction) }) : {};
    },
    async replace(record, factor, transaction) {
      const { id } = record.user;
      if (!factor) return setup.importNone(record, transaction);
      const row = await secrets.find(id, transaction);
      if (!row || secrets.open(row) !== factor.secret) await setup.import(record, factor.secret, transaction);
      await codes.replace(id, factor.codes, transaction);
    },
  };
}

function valuesOf({ secret, codes }: ImportedFactor): RowValues {
  const hashes = codes.map((one) => one.toString('hex'));
  return { totpSecret: secret, ...(hashes.length > 0 && { recoveryCodes: hashes.sort().join(' ') }) };
}

/** Returns the secret in base32, without spaces and padding. Null if the row has none. */
function readSecret(given: ImportRow['totpSecret']): string | null {
  if (given === undefined || given === null || given === '') return null;
  const secret = typeof given === 'string' ? given.toUpperCase().replace(/[\s=-]/g, '') : '';
  const bytes = Math.floor((secret.length * 5) / 8);
  if (/^[A-Z2-7]+$/.test(secret) && bytes >= MIN_BYTES && bytes <= MAX_BYTES) return secret;
  const detail = `must be base32 (A to Z and 2 to 7) of ${MIN_BYTES} to ${MAX_BYTES} bytes`;
  throw invalidField('/totpSecret', 'invalid_totp_secret', detail);
}

function readCodes(given: unknown): Digest[] {
  if (!Array.isArray(given) || given.length > MAX_CODES)
    throw wrong(`must be a list of at most ${MAX_CODES} codes`);
  const codes = given.map((code) => {
    const typed = typeof code === 'string' ? readCode(code) : '';
    if (typed.length < MIN_CODE || typed.length > MAX_CODE)
      throw wrong(`must have ${MIN_CODE} to ${MAX_CODE} characters each, without spaces and hyphens`);
    return hashOfImported(typed);
  });
  return codes.filter((code, index) => codes.findIndex((one) => one.equals(code)) === index);
}

function identityOf(codeHash: Digest): string {
  return `recovery code ${codeHash.toString('hex')}`;
}

function wrong(detail: string): AuthError {
  return invalidField('/recoveryCodes', 'invalid_recovery_codes', detail);
}
