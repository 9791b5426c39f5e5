import type { Transaction } from 'sequelize';
import { isUuid } from '../crypto/uuid.js';
import type { Database } from '../database/database.js';
import type { RowOf } from '../tables/column.js';
import type { SecondFactorColumns, SecondFactorOfUser } from '../tables/factors.js';
import type { Users } from '../users/users.js';
import type { RecoveryCodes } from './recovery-codes.js';
import { MAX_WRONG, type TotpSecrets } from './totp.js';

/** The state of a user's second factor, without its secrets. */
export interface SecondFactorStatus {
  readonly totp: boolean;
  /** Whether codes from the authenticator app are rejected after too many wrong ones. */
  readonly isLocked: boolean;
  /** Whether the user has enabled passkeys as a second factor. */
  readonly passkeys: boolean;
  /** The number of unused recovery codes. */
  readonly codes: number;
}

const NOTHING: SecondFactorStatus = { totp: false, isLocked: false, passkeys: false, codes: 0 };

interface StatusRow {
  readonly totp: string | null;
  readonly wrong: number | string | null;
  readonly passkeys: number | string;
  readonly codes: number | string;
}

/** What {@link Status} needs. */
export interface StatusNeeds {
  readonly database: Database;
  readonly users: Users;
}

/** Reads the state of second factors. */
export class Status {
  readonly #core: StatusNeeds;
  readonly #secrets: TotpSecrets;
  readonly #codes: RecoveryCodes;

  constructor(core: StatusNeeds, secrets: TotpSecrets, codes: RecoveryCodes) {
    this.#core = core;
    this.#secrets = secrets;
    this.#codes = codes;
  }

  /** Reads the state in one statement. */
  async read(userId: string, transaction?: Transaction): Promise<SecondFactorStatus> {
    if (!isUuid(userId)) return NOTHING;
    const [row] = await this.#core.database.read<StatusRow>(
      `SELECT t.user_id AS totp, t.wrong_codes AS wrong, ${this.#codes.countSql('u.id')} AS codes,
         CASE WHEN u.passkey_factor = TRUE AND u.second_factor_at IS NOT NULL THEN 1 ELSE 0 END AS passkeys
       FROM ${this.#core.users.table.name} u LEFT JOIN ${this.#secrets.row.from} ON t.user_id = u.id
       WHERE u.id = :userId`,
      ['totp', 'wrong', 'codes', 'passkeys'],
      { userId },
      transaction,
    );
    if (!row) return NOTHING;
    return {
      totp: row.totp !== null,
      isLocked: Number(row.wrong) >= MAX_WRONG,
      passkeys: Number(row.passkeys) === 1,
      codes: Number(row.codes),
    };
  }
}

/** Returns when the user of an account enabled a second factor. Null if they have not. */
export function sinceOf(account: object): Date | null {
  return (account as Partial<SecondFactorOfUser>).secondFactorAt ?? null;
}

/** Whether the user has enabled passkeys as a second factor. */
export function usesPasskeys(account: object): boolean {
  return (account as Partial<RowOf<SecondFactorColumns>>).passkeyFactor === true;
}
