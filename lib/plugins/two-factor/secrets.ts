import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import type { Chore } from '../../database/chore.js';
import { AuthError } from '../../errors.js';
import { SealedRows } from '../../tables/sealed-rows.js';
import type { Selection, Table } from '../../tables/table.js';
import { type TotpSecretRow, totpSecretsTable } from './model.js';
import { stepOf } from './totp.js';

/** After so many wrong codes in a row, codes of the app are refused (NIST SP 800-63B-4, 3.2.2). */
export const MAX_WRONG = 100;
/** After so many, the owner is told. */
const WARN_AFTER = 10;

/** What the secret of a user is replaced with. */
export interface NewSecret {
  /** In base32. */
  readonly secret: string;
  readonly lastStep: number;
  readonly confirmedAt: Date;
}

/** The confirmed TOTP secrets. */
export class TotpSecrets {
  readonly #core: Core;
  readonly #table: Table<typeof totpSecretsTable.columns>;
  /** With the alias `t`. */
  readonly row: Selection<TotpSecretRow>;

  constructor(core: Core) {
    this.#core = core;
    this.#table = core.table(totpSecretsTable);
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

  /** The secret, in base32. @throws AuthError `unavailable` if it cannot be decrypted */
  open({ userId, secret }: TotpSecretRow): string {
    const opened = this.#core.box.open(secret, contextOf(userId));
    if (opened !== null) return opened;
    const cause = new Error(
      'a TOTP secret cannot be decrypted: is the secret that it was encrypted with still in the config?',
    );
    throw new AuthError('unavailable', { cause });
  }

  /** The time step of a code. Null if it is wrong, already used, or refused after too many wrong ones. */
  async check(row: TotpSecretRow, code: string): Promise<number | null> {
    if (row.wrongCodes >= MAX_WRONG) return null;
    const step = await stepOf(this.open(row), code, this.#core.database.clock.now());
    return step !== null && step > row.lastStep ? step : null;
  }

  /** Takes the code of a step. Of several concurrent calls, one succeeds. @returns whether this one did */
  async take(userId: string, step: number, transaction?: Transaction): Promise<boolean> {
    // The limit holds here, whatever has been looked at meanwhile: it counts only what was right before it was reached.
    const taken = await this.#core.database.change(
      `UPDATE ${this.#table.name} SET last_step = :step, wrong_codes = 0, warned_at = NULL
       WHERE user_id = :userId AND last_step < :step AND wrong_codes < ${MAX_WRONG}`,
      { userId, step },
      { transaction },
    );
    return taken > 0;
  }

  /** Forgets the wrong codes: the owner has given a second factor. */
  async forgive(userId: string, transaction?: Transaction): Promise<void> {
    await this.#core.database.change(
      `UPDATE ${this.#table.name} SET wrong_codes = 0, warned_at = NULL WHERE user_id = :userId AND wrong_codes > 0`,
      { userId },
      { transaction },
    );
  }

  /** Counts a wrong code. @returns whether the owner is to be told now: once until a right one */
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

  /** The user's row is locked. */
  async replace(userId: string, { secret, ...columns }: NewSecret, transaction: Transaction): Promise<void> {
    await this.delete(userId, transaction);
    const sealed = this.#core.box.seal(secret, contextOf(userId));
    await this.#table.insert({ userId, secret: sealed, wrongCodes: 0, ...columns }, transaction);
  }

  /** Inserts the secrets of new users. */
  async insert(secrets: readonly (readonly [userId: string, secret: string])[], transaction: Transaction) {
    if (secrets.length === 0) return;
    const { box, database } = this.#core;
    const confirmedAt = database.clock.date();
    const rows = secrets.map(([userId, secret]) => ({
      ...{ userId, secret: box.seal(secret, contextOf(userId)) },
      ...{ lastStep: 0, wrongCodes: 0, confirmedAt },
    }));
    await this.#table.insert(rows, transaction);
  }

  async delete(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  get sealed(): Chore {
    return new SealedRows(this.#table, this.#core.box, 'userId', ['secret'], ({ userId }) =>
      contextOf(userId),
    );
  }
}

function contextOf(userId: string): string {
  return `totp secret ${userId}`;
}
