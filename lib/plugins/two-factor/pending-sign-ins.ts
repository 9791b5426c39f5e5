import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { createToken, digestToken, isWellFormedToken } from '../../crypto/token.js';
import { type Chore, ExpiredRows } from '../../database/chores.js';
import { AuthError } from '../../errors.js';
import { cookieValues } from '../../sessions/carriers.js';
import type { NewPendingSignIn } from '../../sessions/second-factor.js';
import type { Digest } from '../../tables/column.js';
import type { Selection, Table } from '../../tables/table.js';
import type { UserRecord } from '../../users/record.js';
import { type PendingRow, pendingSignInsTable, type TotpSecretRow } from './declarations.js';
import type { RecoveryCodes } from './recovery-codes.js';
import type { TotpSecrets } from './secrets.js';

const PREFIX = 'lkp_';
const LIFETIME_MS = 10 * 60 * 1000;

/** A pending sign-in, with everything that is needed to complete it. */
export interface FoundPending {
  readonly token: string;
  readonly row: PendingRow;
  readonly record: UserRecord;
  /** Null if the second factor was disabled in the meantime. */
  readonly totp: TotpSecretRow | null;
  /** Whether the user has the recovery code that was looked up. */
  readonly hasCode: boolean;
}

/** Sign-ins that wait for the second factor. Each is for one user, and can be completed once. */
export class PendingSignIns {
  readonly #core: Core;
  readonly #secrets: TotpSecrets;
  readonly #codes: RecoveryCodes;
  readonly #table: Table<typeof pendingSignInsTable.columns>;
  readonly #row: Selection<PendingRow>;

  constructor(core: Core, secrets: TotpSecrets, codes: RecoveryCodes) {
    this.#core = core;
    this.#secrets = secrets;
    this.#codes = codes;
    this.#table = core.table(pendingSignInsTable);
    this.#row = this.#table.whole('p');
  }

  /** @returns the token, and when it expires */
  async begin(
    { record, authEpoch, amr, remembered, attempts }: NewPendingSignIn,
    transaction?: Transaction,
  ): Promise<{ readonly pendingToken: string; readonly expiresAt: Date }> {
    const { database } = this.#core;
    const pendingToken = createToken(PREFIX);
    await database.ready();
    const expiresAt = database.clock.date(LIFETIME_MS);
    const hash = digestToken(pendingToken);
    const row = { hash, userId: record.user.id, authEpoch, remembered, amr, attempts, expiresAt };
    await this.#table.insert(row, transaction);
    return { pendingToken, expiresAt };
  }

  /**
   * Returns the token of the pending sign-in, from the cookie of the current request or from `given`.
   *
   * @throws AuthError `sign_in_expired` if there is no token, or if there are different ones
   */
  tokenOf(given: string | undefined): string {
    const tokens = new Set([...(given === undefined ? [] : [given]), ...this.#presented()]);
    const [token] = tokens;
    if (tokens.size !== 1 || !isWellFormedToken(PREFIX, token)) throw new AuthError('sign_in_expired');
    return token;
  }

  /**
   * Finds a pending sign-in with its user and their second factor, in one statement.
   *
   * @param codeHash the recovery code to look up
   * @throws AuthError `sign_in_expired` if the token is unknown, was used or has expired, or if the user's sessions
   *   have been revoked
   */
  async find(token: string, codeHash: Digest | null = null): Promise<FoundPending> {
    const { database, users } = this.#core;
    const { selection } = users;
    const { row: secret } = this.#secrets;
    await selection.ready();
    const [raw] = await database.select<{ t_user_id: string | null; has_code: number; db_now: number }>(
      `SELECT ${selection.columns}, ${this.#row.columns}, ${secret.columns},
         ${codeHash ? this.#codes.hasSql('u.id') : '0'} AS has_code,
         ${database.nowSql} AS db_now
       FROM ${selection.from}
       JOIN ${this.#row.from} ON p.user_id = u.id AND p.auth_epoch = u.auth_epoch
       LEFT JOIN ${secret.from} ON t.user_id = u.id
       WHERE p.token_hash = :hash`,
      { hash: digestToken(token), ...(codeHash && { codeHash }) },
    );
    if (!raw) throw new AuthError('sign_in_expired');
    database.clock.observe(raw.db_now);
    const row = this.#row.read(raw);
    if (database.clock.hasPassed(row.expiresAt)) throw new AuthError('sign_in_expired');
    const totp = raw.t_user_id === null ? null : secret.read(raw);
    return { token, row, record: users.read(raw), totp, hasCode: Number(raw.has_code) > 0 };
  }

  /** Consumes a pending sign-in. Only one of several concurrent calls succeeds. @returns whether this one did */
  async use({ token }: FoundPending, transaction: Transaction): Promise<boolean> {
    return (await this.#table.delete({ hash: digestToken(token) }, transaction)) > 0;
  }

  /** Deletes the pending sign-ins whose tokens the current request presents. */
  async abandon(): Promise<void> {
    for (const token of this.#presented())
      if (isWellFormedToken(PREFIX, token)) await this.#table.delete({ hash: digestToken(token) });
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  get expired(): Chore {
    return new ExpiredRows(this.#core.database, this.#table.name, 'token_hash', { expires_at: 0 });
  }

  #presented(): string[] {
    const { request } = this.#core.context.client;
    const { name } = this.#core.settings.pendingCookie;
    // A browser presents few of these cookies, but another subdomain can set many.
    return cookieValues(request?.headers.cookie, name).slice(0, 2);
  }
}
