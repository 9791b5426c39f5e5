import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { isUuid } from '../../crypto/uuid.js';
import { ClusterLock } from '../../database/cluster-lock.js';
import type { User } from '../../tables/core.js';
import { cutPage, type PageOptions, readPage } from '../../tables/pages.js';
import type { Selection, Table } from '../../tables/table.js';
import { NOBODY } from '../../users/record.js';
import {
  type Invitation,
  type InvitationColumns,
  type InvitationRow,
  invitationsTable,
  type MemberColumns,
  type Membership,
  membersTable,
  type Organization,
  type OrganizationColumns,
  organizationsTable,
} from './declarations.js';
import { OWNER_ROLE } from './options.js';

/** The form of slugs: 2 to 63 small letters, digits, and single hyphens inside. */
export const SLUG = /^(?=.{2,63}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** A member of an organization, with the data of the user that other members can see. */
export interface Member {
  /** The user. Usernames are there if the app uses them. */
  readonly user: Pick<User, 'id' | 'email' | 'username' | 'usernameDisplay'>;
  /** The role in the organization. */
  readonly role: string;
  /** When the user became a member. */
  readonly createdAt: Date;
}

/** An organization in the list of a user, with the role of the user. */
export interface OrganizationOfUser extends Organization {
  /** The role of the user in the organization. */
  readonly role: string;
}

/** A page of a list. */
export interface Listed<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page. Null if this is the last one. */
  readonly nextCursor: string | null;
}

/** Reads and writes organizations, their members and their invitations. */
export class OrganizationRows {
  readonly organizations: Table<OrganizationColumns>;
  readonly members: Table<MemberColumns>;
  readonly invitations: Table<InvitationColumns>;
  /** Organizations as the app sees them, with the alias `o`. */
  readonly organization: Selection<Organization>;
  /** Memberships, with the alias `m`. */
  readonly membership: Selection<Membership>;
  /** Invitations as the app sees them, with the alias `i`. */
  readonly invitation: Selection<Invitation>;
  /** Invitations with the hashes of their tokens, with the alias `i`. */
  readonly wholeInvitation: Selection<InvitationRow>;
  readonly #core: Core;
  readonly #clusterLock: ClusterLock;

  constructor(core: Core) {
    this.#core = core;
    this.organizations = core.table(organizationsTable);
    this.members = core.table(membersTable);
    this.organization = this.organizations.shown('o');
    this.membership = this.members.shown('m');
    this.invitations = core.table(invitationsTable);
    this.invitation = this.invitations.shown('i');
    this.wholeInvitation = this.invitations.whole('i');
    this.#clusterLock = new ClusterLock(core.database, this.organizations.name);
  }

  /** Finds an organization by its id or slug. Slugs never have the form of an id. */
  async find(idOrSlug: string, transaction?: Transaction): Promise<Organization | null> {
    const column = isUuid(idOrSlug) ? 'id' : 'slug';
    if (column === 'slug' && !SLUG.test(idOrSlug)) return null;
    const where = `WHERE o.${column} = :idOrSlug`;
    const [found = null] = await this.organization.select(where, { idOrSlug }, transaction);
    return found;
  }

  /**
   * Locks an organization until the transaction ends. Every change of its members and invitations acquires this lock, after
   * those of users.
   */
  async lock(id: string, transaction: Transaction): Promise<Organization | null> {
    if (!isUuid(id)) return null;
    await this.#clusterLock.take(id, transaction);
    const [found = null] = await this.organization.select(
      `WHERE o.id = :id ${this.#forUpdate}`,
      { id },
      transaction,
    );
    return found;
  }

  /** Locks organizations in the order of their ids. */
  async lockAll(ids: readonly string[], transaction: Transaction): Promise<readonly Organization[]> {
    const locked: Organization[] = [];
    for (const id of [...new Set(ids)].sort()) {
      const one = await this.lock(id, transaction);
      if (one) locked.push(one);
    }
    return locked;
  }

  /** Returns the membership of a user in an organization, as it is now. */
  async memberOf(
    organizationId: string,
    userId: string,
    transaction?: Transaction,
  ): Promise<Membership | null> {
    const read = transaction ? this.#core.database.currentRead : '';
    // A malformed id is looked up too, so that the work is the same.
    const [found = null] = await this.membership.select(
      `WHERE m.user_id = :userId AND m.organization_id = :organizationId ${read}`,
      {
        userId: isUuid(userId) ? userId : NOBODY,
        organizationId: isUuid(organizationId) ? organizationId : NOBODY,
      },
      transaction,
    );
    return found;
  }

  /** Counts the members, as they are now. The organization is locked. */
  async countMembers(organizationId: string, transaction?: Transaction): Promise<number> {
    return this.#count(`${this.membership.from} WHERE m.organization_id = :organizationId`, {
      values: { organizationId },
      transaction,
    });
  }

  /** Returns the organizations with other members that would have no active owner without a user. */
  async ownedAlone(userId: string): Promise<readonly Organization[]> {
    const where = `WHERE m.user_id = :userId AND m.role = '${OWNER_ROLE}' ORDER BY m.id DESC`;
    const found: Organization[] = [];
    for (const { organizationId } of await this.membership.select(where, { userId })) {
      const isAlone = !(await this.hasActiveOwner(organizationId, undefined, userId));
      const organization = isAlone ? await this.find(organizationId) : null;
      if (organization && (await this.countMembers(organizationId)) > 1) found.push(organization);
    }
    return found;
  }

  /** Counts the organizations that a user owns. The user is locked. */
  async countOwned(userId: string, transaction: Transaction): Promise<number> {
    return this.#count(`${this.membership.from} WHERE m.user_id = :userId AND m.role = '${OWNER_ROLE}'`, {
      values: { userId },
      transaction,
    });
  }

  /**
   * Whether an organization has an owner whose account is not closed. The organization is locked, so no owner can be removed
   * and no owner's account can be closed meanwhile.
   *
   * @param except a user who does not count
   */
  async hasActiveOwner(
    organizationId: string,
    transaction: Transaction | undefined,
    except: string | null = null,
  ): Promise<boolean> {
    const { users, database } = this.#core;
    const conditions = [`m.organization_id = :organizationId AND m.role = '${OWNER_ROLE}'`];
    if (except !== null) conditions.push('m.user_id <> :except');
    // Users have this column only if their deletion has a grace period.
    if ('deletedAt' in users.columns) conditions.push('u.deleted_at IS NULL');
    const rows = await database.select(
      `SELECT m.id AS id FROM ${this.membership.from} JOIN ${users.table.name} u ON u.id = m.user_id
       WHERE ${conditions.join(' AND ')} LIMIT 1 ${database.currentRead}`,
      { organizationId, except },
      transaction,
    );
    return rows.length > 0;
  }

  /** Returns the ids of the owners with the oldest memberships. */
  async oldestOwners(organizationId: string, limit: number, transaction: Transaction): Promise<string[]> {
    const rows = await this.membership.select(
      `WHERE m.organization_id = :organizationId AND m.role = '${OWNER_ROLE}' ORDER BY m.id LIMIT ${limit}`,
      { organizationId },
      transaction,
    );
    return rows.map(({ userId }) => userId);
  }

  /** Lists all organizations, newest first. */
  async list(options: PageOptions): Promise<Listed<Organization>> {
    const { limit, before } = readPage(options);
    const older = before === null ? '' : 'WHERE o.id < :before';
    const rows = await this.organization.select(`${older} ORDER BY o.id DESC LIMIT ${limit + 1}`, { before });
    const { page, nextCursor } = cutPage(rows, limit);
    return { items: page, nextCursor };
  }

  /** Lists the organizations of a user, newest first. */
  async ofUser(userId: string, options: PageOptions): Promise<Listed<OrganizationOfUser>> {
    const { limit, before } = readPage(options);
    if (!isUuid(userId)) return { items: [], nextCursor: null };
    const older = before === null ? '' : 'AND m.organization_id < :before';
    // PostgreSQL could otherwise merge the memberships with all organizations, newest first.
    const raws = await this.#core.database.select<object>(
      `SELECT ${this.organization.columns}, listed.role AS role
       FROM (SELECT m.organization_id, m.role FROM ${this.membership.from}
         WHERE m.user_id = :userId ${older} ORDER BY m.organization_id DESC LIMIT ${limit + 1}) listed
       JOIN ${this.organization.from} ON o.id = listed.organization_id ORDER BY listed.organization_id DESC`,
      { userId, before },
    );
    const rows = raws.map((raw) => ({
      ...this.organization.read(raw),
      role: (raw as { readonly role: string }).role,
    }));
    const { page, nextCursor } = cutPage(rows, limit);
    return { items: page, nextCursor };
  }

  /** Lists the members of an organization, newest first. */
  async listMembers(organizationId: string, options: PageOptions): Promise<Listed<Member>> {
    const { limit, before } = readPage(options);
    if (!isUuid(organizationId)) return { items: [], nextCursor: null };
    const older = before === null ? '' : 'AND m.id < :before';
    const rows = await this.#selectMembers(
      `WHERE m.organization_id = :organizationId ${older} ORDER BY m.id DESC LIMIT ${limit + 1}`,
      { organizationId, before },
    );
    const { page, nextCursor } = cutPage(rows, limit);
    return { items: page.map(({ member }) => member), nextCursor };
  }

  /** Returns a member with the data of the user, as they are now. The user is locked. */
  async member(organizationId: string, userId: string, transaction: Transaction): Promise<Member | null> {
    const [found] = await this.#selectMembers(
      `WHERE m.organization_id = :organizationId AND m.user_id = :userId ${this.#core.database.currentRead}`,
      { organizationId, userId },
      transaction,
    );
    return found?.member ?? null;
  }

  async #selectMembers(
    rest: string,
    values: Readonly<Record<string, string | null>>,
    transaction?: Transaction,
  ): Promise<{ readonly id: string; readonly member: Member }[]> {
    const { database, users } = this.#core;
    const raws = await database.select<object>(
      `SELECT ${this.membership.columns}, u.id AS id, u.email AS email, u.username AS username,
         COALESCE(u.username_display, u.username) AS display
       FROM ${this.membership.from} JOIN ${users.table.name} u ON u.id = m.user_id ${rest}`,
      values,
      transaction,
    );
    return raws.map((raw) => {
      const { id: membershipId, role, createdAt } = this.membership.read(raw);
      const { id, email, username, display: usernameDisplay } = raw as RawUser;
      return {
        id: membershipId,
        member: { user: { id, email, username, usernameDisplay }, role, createdAt },
      };
    });
  }

  async #count(
    from: string,
    {
      values,
      transaction,
    }: { readonly values: Readonly<Record<string, string>>; transaction: Transaction | undefined },
  ): Promise<number> {
    const { dialect, currentRead } = this.#core.database;
    // PostgreSQL cannot lock rows that it only counts.
    const read = dialect === 'postgres' || !transaction ? '' : currentRead;
    const [row] = await this.#core.database.select<{ found: number | string }>(
      `SELECT COUNT(*) AS found FROM ${from} ${read}`,
      values,
      transaction,
    );
    return Number(row?.found);
  }

  /** The end of a SELECT that locks rows. On SQLite, the transaction has already locked the whole database. */
  get #forUpdate(): string {
    return this.#core.database.dialect === 'sqlite' ? '' : 'FOR UPDATE';
  }
}

interface RawUser {
  readonly id: string;
  readonly email: string | null;
  readonly username: string | null;
  readonly display: string | null;
}
