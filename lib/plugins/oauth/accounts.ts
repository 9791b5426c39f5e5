import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import type { Database } from '../../database/database.js';
import type { Replacements } from '../../database/statements.js';
import type { UndoRules } from '../../notices/changes.js';
import { type SessionColumns, sessions } from '../../tables/core.js';
import type { Selection, Table } from '../../tables/table.js';
import type { UserRecord } from '../../users/record.js';
import type { Users } from '../../users/users.js';
import type { Identity } from './client.js';
import { type Account, type AccountColumns, type AccountRow, accountsTable } from './declarations.js';
import { issuerOf, type Provider } from './provider.js';
import { TOKEN_FIELDS, type TokenBox } from './token-box.js';
import type { TokenSet } from './token-response.js';

/** The user of an account, and its identity at the provider. */
export type AccountOwner = Pick<AccountRow, 'userId' | 'provider' | 'issuer' | 'providerAccountId'>;

/** An account and its user. */
export interface AccountWithUser {
  readonly account: AccountRow;
  readonly record: UserRecord;
}

/** Reads and writes the table of linked accounts. {@link TokenBox} encrypts their tokens. */
export class Accounts {
  readonly #providers: ReadonlyMap<string, Provider>;
  readonly #database: Database;
  readonly #table: Table<AccountColumns>;
  readonly #account: Selection<Account>;
  readonly #whole: Selection<AccountRow>;
  readonly #users: Users;
  readonly #sessions: Table<SessionColumns>;

  constructor(
    core: Core,
    private readonly box: TokenBox,
    providers: readonly Provider[],
  ) {
    this.#providers = new Map(providers.map((one) => [one.id, one]));
    this.#database = core.database;
    this.#table = core.table(accountsTable);
    this.#account = this.#table.shown('a');
    this.#whole = this.#table.whole('a');
    this.#users = core.users;
    this.#sessions = core.table(sessions);
  }

  /**
   * Finds the account of an identity, and its user, in one statement. The account might still be stored under a former
   * issuer of the provider. It counts only with this provider's id, because other providers might have used the same
   * issuer. It might also still be stored with the person's former id.
   */
  async findByIdentity(
    { id: provider, formerIssuers = [] }: Provider,
    { issuer, profile: { subject, formerSubject } }: Identity,
  ): Promise<AccountWithUser | null> {
    const { nowSql, clock } = this.#database;
    await this.#users.selection.ready?.();
    const former = formerIssuers.length > 0 && 'OR a.provider = :provider AND a.issuer IN (:formerIssuers)';
    const rows = await this.#database.select<{ db_now: number }>(
      `SELECT ${this.#whole.columns}, ${this.#users.selection.columns}, ${nowSql} AS db_now
       FROM ${this.#whole.from} JOIN ${this.#users.selection.from} ON u.id = a.user_id
       WHERE a.subject IN (:subjects) AND (a.issuer = :issuer ${former || ''})`,
      { subjects: [subject, formerSubject ?? subject], issuer, provider, formerIssuers: [...formerIssuers] },
    );
    const found: { raw: (typeof rows)[number]; account: AccountRow }[] = [];
    for (const raw of rows) {
      const account = this.#whole.read(raw);
      if (account.provider === provider || !(await this.#moveToOwnIssuer(account)))
        found.push({ raw, account });
    }
    found.sort(
      (a, b) =>
        Number(b.account.providerAccountId === subject) - Number(a.account.providerAccountId === subject),
    );
    const { raw, account } = found.find((one) => one.account.issuer === issuer) ?? found[0] ?? {};
    if (!raw || !account) return null;
    clock.observe(raw.db_now);
    return { account, record: this.#users.read(raw) };
  }

  async find(userId: string, provider: string, transaction?: Transaction): Promise<AccountRow | null> {
    if (!isUuid(userId)) return null;
    return this.#findOne(
      'WHERE a.user_id = :userId AND a.provider = :provider',
      { userId, provider },
      transaction,
    );
  }

  findById(id: string): Promise<AccountRow | null> {
    return this.#findOne('WHERE a.id = :id', { id });
  }

  /** Finds the account at a provider that is linked to the user of a session. */
  findBySession(sessionId: string, provider: string): Promise<AccountRow | null> {
    return this.#findOne(
      `JOIN ${this.#sessions.name} s ON s.user_id = a.user_id WHERE s.id = :sessionId AND a.provider = :provider`,
      { sessionId, provider },
    );
  }

  /** Lists a user's accounts, oldest link first. */
  async list(userId: string, transaction?: Transaction): Promise<Account[]> {
    if (!isUuid(userId)) return [];
    const lock = transaction ? this.#database.currentRead : '';
    return this.#account.select(`WHERE a.user_id = :userId ORDER BY a.id ${lock}`, { userId }, transaction);
  }

  /** @throws UniqueConstraintError (Sequelize) if the account, or the user's provider, is already linked */
  async insert(owner: AccountOwner, tokens: TokenSet, transaction?: Transaction): Promise<void> {
    const id = uuidv7();
    const createdAt = this.#database.clock.date();
    const columns = this.box.columnsOf({ id, provider: owner.provider }, tokens, createdAt);
    await this.#table.insert({ id, ...owner, ...columns, createdAt }, transaction);
  }

  /** Finds the links that already exist. */
  async findLinks(
    links: readonly Pick<AccountRow, 'issuer' | 'providerAccountId'>[],
    transaction: Transaction,
  ): Promise<AccountRow[]> {
    if (links.length === 0) return [];
    const wanted = new Set(links.map(({ issuer, providerAccountId }) => `${issuer} ${providerAccountId}`));
    const found = await this.#whole.select(
      'WHERE a.subject IN (:subjects) AND a.issuer IN (:issuers)',
      {
        subjects: [...new Set(links.map(({ providerAccountId }) => providerAccountId))],
        issuers: [...new Set(links.map(({ issuer }) => issuer))],
      },
      transaction,
    );
    return found.filter(({ issuer, providerAccountId }) => wanted.has(`${issuer} ${providerAccountId}`));
  }

  /** Whether there are tokens of a person, in anyone's account. */
  async hasTokens(person: Pick<AccountRow, 'issuer' | 'providerAccountId'>): Promise<boolean> {
    const found = await this.#findOne(
      `WHERE a.issuer = :issuer AND a.subject = :providerAccountId
       AND (a.access_token IS NOT NULL OR a.refresh_token IS NOT NULL)`,
      { ...person },
    );
    return found !== null;
  }

  /** Removes the tokens of a user's accounts, which stay linked. @returns the accounts as they were */
  async dropTokens(userId: string, transaction: Transaction): Promise<AccountRow[]> {
    const all = await this.#whole.select('WHERE a.user_id = :userId', { userId }, transaction);
    const tokens = { accessToken: null, refreshToken: null, idToken: null };
    await this.#table.update({ ...tokens, relinkRequired: true }, { userId }, transaction);
    return all;
  }

  /** Inserts accounts without tokens. latchkey gets tokens when their users sign in with the provider. */
  async insertLinks(links: readonly AccountOwner[], transaction: Transaction): Promise<void> {
    if (links.length === 0) return;
    const now = this.#database.clock.date();
    const times = { createdAt: now, updatedAt: now, refreshedAt: now };
    const rows = links.map((link) => ({ id: uuidv7(), ...link, scopes: [], relinkRequired: true, ...times }));
    await this.#table.insert(rows, transaction);
  }

  /**
   * Restores an unlinked account, without tokens: the user must link it again to get some. Does nothing if the identity
   * has been linked again in the meantime, or if the user has linked another account at the provider.
   */
  async restore(
    link: AccountOwner & Pick<AccountRow, 'id' | 'scopes' | 'createdAt'>,
    transaction: Transaction,
  ): Promise<void> {
    const { issuer, providerAccountId, userId, provider } = link;
    const taken = await this.#findOne(
      `WHERE (a.issuer = :issuer AND a.subject = :providerAccountId) OR (a.user_id = :userId AND a.provider = :provider)
       ${this.#database.currentRead}`,
      { issuer, providerAccountId, userId, provider },
      transaction,
    );
    if (taken) return;
    const now = this.#database.clock.date();
    const row = { ...link, relinkRequired: true, refreshedAt: now, updatedAt: now };
    await this.#table.insert(row, transaction);
    await this.announceChange(userId, transaction);
  }

  /**
   * Stores the tokens of a sign-in or link, and the current issuer and subject. Tokens that the response omits are
   * kept if they still work. A refresh that is running keeps its lease.
   *
   * @returns false if the account has been unlinked in the meantime
   */
  async updateTokens(
    account: AccountRow,
    { issuer, profile, tokens }: Pick<Identity, 'issuer' | 'profile' | 'tokens'>,
    transaction?: Transaction,
  ): Promise<boolean> {
    const { id } = account;
    const who = { issuer, providerAccountId: profile.subject };
    const columns = { ...who, ...this.box.columnsOf(account, tokens, this.#database.clock.date()) };
    const useless = TOKEN_FIELDS.filter((field) => {
      if (tokens[field] !== null || account[field] === null) return false;
      return (
        (field === 'refreshToken' && account.relinkRequired) || this.box.openField(account, field) === null
      );
    });
    if (useless.length > 0) {
      // Remove them only if they are unchanged, because another sign-in might have replaced them in the meantime.
      const nulls = Object.fromEntries(useless.map((field) => [field, null]));
      const unchanged = Object.fromEntries(useless.map((field) => [field, account[field]]));
      if (await this.#table.update({ ...columns, ...nulls }, { id, ...unchanged }, transaction)) return true;
    }
    return (await this.#table.update(columns, { id }, transaction)) > 0;
  }

  /** Unlinks an account. The user's row is locked. */
  async delete({ id, userId }: Pick<AccountRow, 'id' | 'userId'>, transaction: Transaction): Promise<void> {
    await this.#table.delete({ id }, transaction);
    await this.announceChange(userId, transaction);
  }

  /** Announces that a user's links have changed. */
  announceChange(userId: string, transaction: Transaction): Promise<void> {
    return this.#users.announceChange(userId, ['accounts'], transaction);
  }

  /** @returns the deleted accounts */
  async deleteAll(userId: string, transaction: Transaction): Promise<AccountRow[]> {
    const all = await this.#whole.select('WHERE a.user_id = :userId', { userId }, transaction);
    await this.#table.delete({ userId }, transaction);
    if (all.length > 0) await this.announceChange(userId, transaction);
    return all;
  }

  /**
   * Moves an account from a former issuer of its provider to the current issuer, so that another provider with the
   * former issuer can have the same subject. @returns false if the account is not stored under a former issuer
   */
  async #moveToOwnIssuer({ id, provider, issuer }: AccountRow): Promise<boolean> {
    const owner = this.#providers.get(provider);
    if (!owner?.formerIssuers?.includes(issuer) || issuerOf(owner) === issuer) return false;
    await this.#table.update({ issuer: issuerOf(owner) }, { id, issuer });
    return true;
  }

  async #findOne(rest: string, values: Replacements, transaction?: Transaction): Promise<AccountRow | null> {
    const [found] = await this.#whole.select(rest, values, transaction);
    return found ?? null;
  }
}

/** A linked account as JSON, without tokens, because these grant access to the provider and not to the account. */
interface StoredLink extends Pick<AccountRow, 'id' | 'provider' | 'issuer' | 'providerAccountId' | 'scopes'> {
  readonly createdAt: string;
}

/**
 * Undoing a change removes links that were added since then, and restores links that were removed. A restored link has
 * no tokens, so the user must link the account again before the app can use the provider's API.
 */
export function undoRules(accounts: Accounts): UndoRules {
  return {
    name: 'oauth',
    announces: ['accounts'],
    isWayIn: (part) => ((part ?? []) as readonly StoredLink[]).length > 0,
    async snapshot(userId, transaction) {
      return (await accounts.list(userId, transaction)).map(
        ({ id, provider, issuer, providerAccountId, scopes, createdAt }): StoredLink => ({
          id,
          provider,
          issuer,
          providerAccountId,
          scopes,
          createdAt: createdAt.toISOString(),
        }),
      );
    },
    async restore({ record, part }, transaction) {
      const userId = record.user.id;
      const links = ((part ?? []) as readonly StoredLink[]).map(({ createdAt, ...link }) => ({
        ...link,
        userId,
        createdAt: new Date(createdAt),
      }));
      const now = await accounts.list(userId, transaction);
      const isIn = (all: readonly Link[], one: Link) => all.some((other) => isSame(one, other));
      for (const account of now) if (!isIn(links, account)) await accounts.delete(account, transaction);
      for (const link of links) if (!isIn(now, link)) await accounts.restore(link, transaction);
    },
  };
}

type Link = Pick<AccountRow, 'id' | 'provider' | 'issuer' | 'providerAccountId'>;

/** Compares links by id too, because a link's issuer changes when the link moves to its provider's current issuer. */
function isSame(one: Link, other: Link): boolean {
  const { provider, issuer, providerAccountId } = other;
  if (one.provider !== provider || one.providerAccountId !== providerAccountId) return false;
  return one.id === other.id || one.issuer === issuer;
}
