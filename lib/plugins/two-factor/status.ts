import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { isUuid } from '../../crypto/uuid.js';
import type { RecoveryCodes } from './recovery-codes.js';
import { MAX_WRONG, type TotpSecrets } from './secrets.js';

/** The second factor of a user, as far as it can be told. */
export interface SecondFactorStatus {
  /** Whether codes of the app are refused after too many wrong ones. */
  readonly isLocked: boolean;
  /** The number of unused recovery codes. */
  readonly codes: number;
}

/** Reads the state of second factors. */
export class Status {
  readonly #core: Core;
  readonly #secrets: TotpSecrets;
  readonly #codes: RecoveryCodes;

  constructor(core: Core, secrets: TotpSecrets, codes: RecoveryCodes) {
    this.#core = core;
    this.#secrets = secrets;
    this.#codes = codes;
  }

  /** In one statement. Null if the user has no second factor. */
  async read(userId: string, transaction?: Transaction): Promise<SecondFactorStatus | null> {
    if (!isUuid(userId)) return null;
    const [row] = await this.#core.database.select<{ wrong: number | string; codes: number | string }>(
      `SELECT t.wrong_codes AS wrong, ${this.#codes.countSql('t.user_id')} AS codes
       FROM ${this.#secrets.row.from} WHERE t.user_id = :userId`,
      { userId },
      transaction,
    );
    return row ? { isLocked: Number(row.wrong) >= MAX_WRONG, codes: Number(row.codes) } : null;
  }
}
