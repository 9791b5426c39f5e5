import type { Transaction } from 'sequelize';
import type { SecretBox } from '../crypto/secret-box.js';
import { readCode } from '../crypto/typed-codes.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import { type TotpSecretRow, totpEnrolmentsTable, totpSecretsTable } from '../tables/factors.js';
import { SealedRows } from '../tables/sealed-rows.js';
import { type Selection, Table } from '../tables/table.js';

/** After this many wrong codes in a row, codes from the authenticator app are rejected (NIST SP 800-63B-4, 3.2.2). */
export const MAX_WRONG = 100;
/** After this many wrong codes, the user gets a notice. */
const WARN_AFTER = 10;

/** The secret that replaces the current one of a user. */
export interface NewSecret {
  /** In base32. */
  readonly secret: string;
  readonly lastStep: number;
  readonly confirmedAt: Date;
  /** @default 0 */
  readonly wrongCodes?: number;
}

/** What {@link TotpSecrets} and {@link Enrolments} need. */
export interface TotpNeeds {
  readonly database: Database;
  readonly box: SecretBox;
}

/** The confirmed TOTP secrets. */
export class TotpSecrets {
  readonly #core: TotpNeeds;
  readonly #table: Table<typeof totpSecretsTable.columns>;
  /** With the alias `t`. */
  readonly row: Selection<TotpSecretRow>;

  constructor(core: TotpNeeds) {
    this.#core = core;
    this.#table = new Table(core.database, totpSecretsTable);
    this.row = this.#table.whole('t');
  }

  /** The name of the table. */
  get table(): string {
    return this.#table.name;
  }

  async find(userId: string, transaction?: Transaction): Promise<TotpSecretRow | null> {
    const lock = transaction ? this.#core.database.currentRead : '';
    const [row] = await this.row.select(`WHERE t.user_id = :userId ${lock}`, { userId }, transaction);
    return row ?? null;
  }

  /** Reads the secret of a user that was found with others. Null if the second factor was disabled in the meantime. */
  joined(raw: object): TotpSecretRow | null {
    return (raw as { t_user_id?: string | null }).t_user_id ? this.row.read(raw) : null;
  }

  /** Returns the secret, in base32. @throws AuthError `unavailable` if it cannot be decrypted */
  open({ userId, secret }: TotpSecretRow): string {
    const opened = this.#core.box.open(secret, secretContextOf(userId));
    if (opened !== null) return opened;
    const cause = new Error(
      'a TOTP secret cannot be decrypted: make sure that the config still has the secret that encrypted it',
    );
    throw new AuthError('unavailable', { cause });
  }

  /** Returns the time step of a code. Null if the code is wrong or was used, or after too many wrong codes. */
  async check(row: TotpSecretRow, code: string): Promise<number | null> {
    if (row.wrongCodes >= MAX_WRONG) return null;
    const step = await stepOf(this.open(row), code, this.#core.database.clock.now());
    return step !== null && step > row.lastStep ? step : null;
  }

  /** Consumes the code of a step. Only one of several concurrent calls succeeds. @returns whether this one did */
  async take(userId: string, step: number, transaction?: Transaction): Promise<boolean> {
    // Check the limit again, because concurrent wrong codes might have reached it since this code was checked.
    const taken = await this.#core.database.change(
      `UPDATE ${this.#table.name} SET last_step = :step, wrong_codes = 0, warned_at = NULL
       WHERE user_id = :userId AND last_step < :step AND wrong_codes < ${MAX_WRONG}`,
      { userId, step },
      { transaction },
    );
    return taken > 0;
  }

  /** Resets the number of wrong codes, because the user has provided a second factor. */
  async forgive(userId: string, transaction?: Transaction): Promise<void> {
    await this.#core.database.change(
      `UPDATE ${this.#table.name} SET wrong_codes = 0, warned_at = NULL WHERE user_id = :userId AND wrong_codes > 0`,
      { userId },
      { transaction },
    );
  }

  /** Counts a wrong code. @returns whether to send the user a notice now: once until the next correct code */
  async countWrong(userId: string): Promise<boolean> {
    const { database } = this.#core;
    await database.change(
      `UPDATE ${this.#table.name} SET wrong_codes = wrong_codes + 1 WHERE user_id = :userId`,
      { userId },
    );
    const warned = await database.change(
      `UPDATE ${this.#table.name} SET warned_at = :now
       WHERE user_id = :userId AND wrong_codes >= ${WARN_AFTER} AND warned_at IS NULL`,
      { userId, now: database.clock.date() },
    );
    return warned > 0;
  }

  /** Replaces a user's secret. The user's row must be locked. */
  async replace(userId: string, { secret, ...columns }: NewSecret, transaction: Transaction): Promise<void> {
    await this.delete(userId, transaction);
    const sealed = this.#core.box.seal(secret, secretContextOf(userId));
    await this.#table.insert({ userId, secret: sealed, wrongCodes: 0, ...columns }, transaction);
  }

  /** Inserts the secrets of new users. */
  async insert(secrets: readonly (readonly [userId: string, secret: string])[], transaction: Transaction) {
    if (secrets.length === 0) return;
    const { box, database } = this.#core;
    const confirmedAt = database.clock.date();
    const rows = secrets.map(([userId, secret]) => ({
      userId,
      secret: box.seal(secret, secretContextOf(userId)),
      lastStep: 0,
      wrongCodes: 0,
      confirmedAt,
    }));
    await this.#table.insert(rows, transaction);
  }

  /** @returns whether the user had a secret */
  async delete(userId: string, transaction: Transaction): Promise<boolean> {
    return (await this.#table.delete({ userId }, transaction)) > 0;
  }

  get sealed(): Chore {
    return new SealedRows(this.#table, this.#core.box, ['secret'], ({ userId }) => secretContextOf(userId));
  }
}

function secretContextOf(userId: string): string {
  return `totp secret ${userId}`;
}

// RFC 6238 with the parameters that every authenticator app supports.
const SECONDS = 30;
const SECRET_BYTES = 20; // 160 bits: RFC 4226, 4, R6
const DIGITS = 6;
const ALGORITHM = 'SHA1';
/** A code can be from the step before or after the current one: RFC 6238, 5.2. */
const WINDOW = 1;

/** Loads the package on first use, because most requests need neither this package nor the one for QR codes. */
const otpauth = () => import('otpauth');

/** Creates a secret, in base32. */
export async function newSecret(): Promise<string> {
  const { Secret } = await otpauth();
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Returns the time step at a time in milliseconds. */
export function stepAt(now: number): number {
  return Math.floor(now / (SECONDS * 1000));
}

/** Returns the time step of a code. Null if the code is not a current one. */
export async function stepOf(secret: string, code: string, now: number): Promise<number | null> {
  const token = readCode(code);
  if (!/^\d{6}$/.test(token)) return null;
  const { Secret, TOTP } = await otpauth();
  const delta = TOTP.validate({
    token,
    secret: Secret.fromBase32(secret),
    timestamp: now,
    period: SECONDS,
    digits: DIGITS,
    algorithm: ALGORITHM,
    window: WINDOW,
  });
  return delta === null ? null : stepAt(now) + delta;
}

/**
 * Returns the URI that authenticator apps read from the QR code:
 * https://github.com/google/google-authenticator/wiki/Key-Uri-Format
 */
export async function keyUri(secret: string, issuer: string, account: string): Promise<string> {
  const { TOTP } = await otpauth();
  // Apps split the label at its colon, even an escaped one.
  const label = account.replaceAll(':', ' ');
  return new TOTP({
    issuer,
    label,
    secret,
    period: SECONDS,
    digits: DIGITS,
    algorithm: ALGORITHM,
  }).toString();
}

/** Returns the QR code of a URI. */
export async function qrSvg(uri: string): Promise<string> {
  const { renderSVG } = await import('uqr');
  // ISO/IEC 18004 requires a margin of four modules.
  return renderSVG(uri, { border: 4 });
}

const LIFETIME_MS = 10 * 60 * 1000;

/** TOTP secrets that are not confirmed yet. No sign-in asks for them, and the confirmed secret, if any, stays valid. */
export class Enrolments {
  readonly #core: TotpNeeds;
  readonly #table: Table<typeof totpEnrolmentsTable.columns>;

  constructor(core: TotpNeeds) {
    this.#core = core;
    this.#table = new Table(core.database, totpEnrolmentsTable);
  }

  /** Starts an enrollment, which replaces an earlier one of the session. The user's row must be locked. */
  async begin(userId: string, sessionId: string, secret: string, transaction: Transaction): Promise<void> {
    const { box, database } = this.#core;
    await this.#table.delete({ sessionId }, transaction);
    const sealed = box.seal(secret, enrolmentContextOf(userId, sessionId));
    const expiresAt = database.clock.date(LIFETIME_MS);
    await this.#table.insert({ sessionId, userId, secret: sealed, expiresAt }, transaction);
  }

  /** Returns the secret of a session's enrollment, in base32. Null if there is no enrollment, or if it has expired. */
  async find(userId: string, sessionId: string): Promise<string | null> {
    const [row] = await this.#table
      .whole('e')
      .select('WHERE e.session_id = :sessionId AND e.user_id = :userId', { sessionId, userId });
    if (!row || this.#core.database.clock.hasPassed(row.expiresAt)) return null;
    return this.#core.box.open(row.secret, enrolmentContextOf(userId, sessionId));
  }

  /** Consumes a session's enrollment. Only one of several concurrent calls succeeds. @returns whether this one did */
  async take(sessionId: string, transaction: Transaction): Promise<boolean> {
    return (await this.#table.delete({ sessionId }, transaction)) > 0;
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  get expired(): Chore {
    return new ExpiredRows(this.#core.database, this.#table.name, 'session_id', { expires_at: 0 });
  }
}

function enrolmentContextOf(userId: string, sessionId: string): string {
  return `totp enrolment ${userId} ${sessionId}`;
}
