import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import { type EmailedCodes, nameOf, newSalt } from '../crypto/emailed-codes.js';
import { digestToken, isWellFormedToken, tokenOfBytes } from '../crypto/token.js';
import {
  type EmailedSignInColumns,
  type EmailedSignInRow,
  emailedSignInsTable,
} from '../tables/emailed-sign-ins.js';
import type { UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import { EmailedRequests } from './emailed-requests.js';
import type { WaitingNeeds } from './waiting.js';

/** The prefix of the tokens in links. */
const PREFIX = 'lkl_';

/** In place of an epoch: the account was deleted. No account ever has it. */
const DELETED = -1;

/** A request, and the account that has its address. */
export interface FoundSignIn {
  readonly row: EmailedSignInRow;
  /** Null if no account has the address. */
  readonly record: UserRecord | null;
  readonly hasPasskey: boolean;
}

/** What the code and the link of a request are derived from and found by. */
type Secrets = Pick<EmailedSignInRow, 'salt' | 'linkHash'>;

/** The settings of emailed sign-ins. */
export interface EmailedSignInSettings {
  /** Whether a code or link creates an account for an address that has none, unless sign-ups are closed. */
  readonly signUp: boolean;
  /** The time for which a code or link is valid, in seconds. */
  readonly lifetime: number;
}

/** What {@link EmailedSignIns} need. */
interface EmailedSignInsNeeds extends WaitingNeeds {
  readonly settings: Settings;
  readonly codes: EmailedCodes;
  readonly users: Pick<Users, 'selection' | 'read'>;
}

/**
 * The table of emailed sign-ins. A browser has the token of its request in the cookie of pending sign-ins. The table
 * belongs to the plugin that has the routes.
 */
export class EmailedSignIns extends EmailedRequests<EmailedSignInColumns> {
  constructor(
    private readonly core: EmailedSignInsNeeds,
    private readonly options: EmailedSignInSettings,
  ) {
    super(core, emailedSignInsTable);
  }

  /** Whether a code or link creates an account for an address that has none. */
  get makesAccounts(): boolean {
    return this.options.signUp && this.core.settings.signUp !== 'closed';
  }

  /** Whether a code or link creates an account only for an address that a plugin has invited, because sign-ups are closed. */
  get makesInvitedAccounts(): boolean {
    return this.options.signUp && this.core.settings.signUp === 'closed';
  }

  /** The time for which a code or link is valid, in seconds. */
  get lifetime(): number {
    return this.options.lifetime;
  }

  /**
   * Finds a request that has not expired with the account that has its address, in one statement.
   *
   * @param passkeySql the column that is 1 if the user `u` has a passkey, and 0 otherwise
   * @param isAgain whether it was found before, and another transaction has made the account since
   */
  async findWithUser(browserHash: Buffer, passkeySql: string, isAgain = false): Promise<FoundSignIn | null> {
    const { database, users } = this.core;
    // In a transaction of the app, MySQL would not see an account that has just been made.
    const read = isAgain && database.dialect === 'mysql' ? database.currentRead : '';
    const { selection } = users;
    await selection.ready?.();
    const [raw] = await database.select<{ db_now: number; u_id: string | null; has_passkey: number }>(
      `SELECT ${selection.columns}, ${this.row.columns}, ${passkeySql} AS has_passkey,
         ${database.nowSql} AS db_now
       FROM ${this.row.from} LEFT JOIN ${selection.from} ON u.email = w.email
       WHERE w.browser_hash = :browserHash ${read}`,
      { browserHash },
    );
    if (!raw) return null;
    database.clock.observe(raw.db_now);
    const row = this.row.read(raw);
    if (this.hasExpired(row)) return null;
    const record = raw.u_id === null ? null : users.read(raw);
    return { row, record, hasPasskey: Number(raw.has_passkey) === 1 };
  }

  /** Whether a link's token is one of a request that has not expired. */
  async isLink(token: string): Promise<boolean> {
    return (await this.ofLink(token)) !== null;
  }

  /** Finds the request whose link was emailed. Null if it has expired or was used. */
  async ofLink(token: string): Promise<Pick<EmailedSignInRow, 'email' | 'browserHash'> | null> {
    if (!isWellFormedToken(PREFIX, token)) return null;
    const row = await this.find(digestToken(token));
    return row && row.sentAt !== null ? row : null;
  }

  /** Remembers whether the session is kept when the browser is closed, as it was said last. */
  async setRemembered(row: EmailedSignInRow, remembered: boolean, transaction?: Transaction): Promise<void> {
    if (row.remembered !== remembered) await this.table.update({ remembered }, hashesOf(row), transaction);
  }

  /** Consumes a request, unless its address is no longer the one of this user. @returns whether this call did */
  async takeFor({ linkHash, email }: EmailedSignInRow, userId: string, transaction: Transaction) {
    const { database, users } = this.core;
    const sql = `DELETE FROM ${this.table.name} WHERE link_hash = :linkHash
      AND EXISTS (SELECT 1 FROM ${users.selection.from} WHERE u.id = :userId AND u.email = :email)`;
    return (await database.change(sql, { linkHash, userId, email }, { transaction })) > 0;
  }

  /**
   * Like {@link mailed}, for the account that has the address. If the request was mailed to the account as it was before
   * its sessions ended, it gets another code and link, because someone might have read those.
   *
   * @param authEpoch the account's epoch. Null if there is no account
   * @returns the request to mail. Null if it has ended
   */
  async mailedTo(
    authEpoch: number | null,
    browserHash: Buffer,
    hasCode: boolean,
  ): Promise<EmailedSignInRow | null> {
    const { database } = this;
    const former = await this.ofBrowser(browserHash);
    if (!former) return null;
    const { salt, linkHash } = hasCode && isOfFormer(former, authEpoch) ? this.#renewed(former) : former;
    const sent = hasCode ? 'sent_at = :now, auth_epoch = :authEpoch' : 'sent_at = sent_at';
    const sql = `UPDATE ${this.table.name} SET mails = mails + 1, salt = :salt, link_hash = :linkHash, ${sent}
      WHERE link_hash = :formerHash AND expires_at > :now`;
    const values = { salt, linkHash, authEpoch, formerHash: former.linkHash, now: database.clock.date() };
    return (await database.change(sql, values)) > 0 ? { ...former, salt, linkHash } : null;
  }

  /**
   * Invalidates the codes for an address, because its account is deleted. The requests stay, because the people who sent
   * them must not learn that there was an account.
   */
  async endCodesFor(email: string, transaction: Transaction): Promise<void> {
    await this.table.update({ sentAt: null, authEpoch: DELETED }, { email }, transaction);
  }

  // A sign-in that is mailed again can get another primary key at the same time, and the response to a wrong code must not
  // show this.
  protected override foundBy(row: EmailedSignInRow) {
    return row.salt === null ? super.foundBy(row) : { key: 'browser_hash', hash: row.browserHash };
  }

  /**
   * Returns the code for a sign-in, from the secret that its link was derived from. Returns the code for a
   * reauthentication if the request is one.
   */
  codeFor(row: EmailedSignInRow): string {
    if (row.salt === null) return this.core.codes.codeFor(reauthenticationName(row));
    const codes = this.core.codes.codesFor(codeName(row));
    const index = this.#links(row).findIndex((token) => isLinkOf(token, row));
    return codes[index] ?? codes[0];
  }

  /** Whether what a person has typed is the code of a sign-in, and was mailed. */
  isCode(typed: string, row: EmailedSignInRow): boolean {
    return this.core.codes.matches(typed, codeName(row)) && row.sentAt !== null;
  }

  /** Whether what a person has typed is the code of a reauthentication, and was mailed. */
  isReauthenticationCode(typed: string, row: EmailedSignInRow): boolean {
    return this.core.codes.matches(typed, reauthenticationName(row)) && row.sentAt !== null;
  }

  /** Returns what the code and the link of a new sign-in are derived from and found by. */
  newSecrets(request: Pick<EmailedSignInRow, 'browserHash' | 'email'>): Secrets {
    const salt = newSalt();
    const token = tokenOfBytes(PREFIX, this.core.codes.bytesFor(linkName({ ...request, salt }))[0]);
    return { salt, linkHash: digestToken(token) };
  }

  /** Returns what the code of a new reauthentication is derived from. */
  newReauthenticationSecrets(): Secrets {
    return { salt: null, linkHash: randomBytes(32) };
  }

  #renewed(row: EmailedSignInRow): Secrets {
    return row.salt === null ? this.newReauthenticationSecrets() : this.newSecrets(row);
  }

  /**
   * Returns the token of a request's link. Null for a reauthentication, and if the secret that it was derived from is not
   * configured any more.
   */
  linkOf(row: EmailedSignInRow): string | null {
    return this.#links(row).find((token) => isLinkOf(token, row)) ?? null;
  }

  /** The tokens of a request's link, by each configured secret. */
  #links(row: EmailedSignInRow): readonly string[] {
    return this.core.codes.bytesFor(linkName(row)).map((bytes) => tokenOfBytes(PREFIX, bytes));
  }
}

/** Returns the hash that identifies the reauthentication of a session. No browser has a token with this hash. */
export function reauthenticationOf(sessionId: string): Buffer {
  return digestToken(`reauthenticate ${sessionId}`);
}

/** Identifies a request, which has other hashes once it is replaced. */
export function hashesOf({ linkHash, browserHash }: EmailedSignInRow) {
  return { linkHash, browserHash };
}

/** Whether a token is the one of a request's link. */
export function isLinkOf(token: string, { linkHash }: EmailedSignInRow): boolean {
  return isWellFormedToken(PREFIX, token) && timingSafeEqual(digestToken(token), linkHash);
}

/** Whether a request was mailed to an account as it was before, or before there was one. */
function isOfFormer({ sentAt, authEpoch }: EmailedSignInRow, current: number | null): boolean {
  return (sentAt !== null || authEpoch !== null) && authEpoch !== current;
}

type Named = Pick<EmailedSignInRow, 'browserHash' | 'salt' | 'email'>;

function codeName({ browserHash, salt, email }: Named): string {
  return nameOf(['sign-in', browserHash.toString('hex'), email], salt);
}

function linkName({ browserHash, salt, email }: Named): string {
  return nameOf(['sign-in-link', browserHash.toString('hex'), email], salt);
}

// The first hash is the same for every reauthentication of a session. The second one is random, so a code of an earlier
// reauthentication is wrong, and no salt is needed.
function reauthenticationName({ browserHash, linkHash, email }: EmailedSignInRow): string {
  return nameOf(['reauthenticate', browserHash.toString('hex'), linkHash.toString('hex'), email], null);
}
