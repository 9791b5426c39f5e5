import type { Transaction } from 'sequelize';
import { isClosed } from '../../accounts/deletion.js';
import type { MemberRights } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import { isForeignKeyViolation, violatedUnique } from '../../database/faults.js';
import { AuthError, type GivenFieldError, invalidField } from '../../errors.js';
import { covers, type Permissions } from '../../permissions.js';
import { say } from '../../phrases.js';
import type { UserRecord } from '../../users/record.js';
import { runHook } from '../../users/updates.js';
import {
  type Invitation,
  MAX_NAME,
  type Membership,
  type MemberVia,
  type Organization,
  organizationNotices,
} from './declarations.js';
import { type OrganizationPermission, type OrganizationSettings, OWNER_ROLE } from './options.js';
import { type Member, type OrganizationRows, SLUG } from './rows.js';

/** The maximum number of other owners who get a notice about a new one. */
const MAX_NOTIFIED = 20;

/** The id of the user who makes a change. Null for your app's code, which no rule about permissions limits. */
export type By = string | null;

/** The name and slug of an organization. */
export interface OrganizationNames {
  readonly name: string;
  readonly slug: string;
}

/** A user who becomes a member. */
export interface NewMember {
  readonly userId: string;
  readonly role: string;
  readonly via: MemberVia;
  readonly by: By;
}

/** A change of an organization. */
interface OrganizationChange {
  readonly id: string;
  readonly by: By;
  /** The permission that it requires. Null for something that every member can do. */
  readonly right: OrganizationPermission | null;
  /** The other users whose rows are locked. Users who do not exist are ignored. @default none */
  readonly users?: readonly string[];
}

/** An organization and the rows of users that a transaction has locked. */
interface LockedOrganization {
  readonly organization: Organization;
  /** The users who were named, by id. A user who does not exist is missing. */
  readonly users: ReadonlyMap<string, UserRecord>;
  /** What the user who makes the change is allowed to do. */
  readonly allowed: Permissions;
}

/**
 * Changes organizations and their members. Locks are taken in the order users (by id), organizations (by id), memberships.
 * All rules are checked under the locks, so that any number of concurrent changes leave an owner whose account is active.
 */
export class OrganizationChanges {
  constructor(
    private readonly core: Core,
    private readonly rows: OrganizationRows,
    private readonly settings: OrganizationSettings,
  ) {}

  /**
   * Runs `work` in a transaction that has locked users and an organization, in this order, and checked the right to make the
   * change.
   *
   * @throws AuthError `organization_not_found`, `permission_required`, and the errors of `work`
   */
  async within<T>(
    { id, by, right, users: others = [] }: OrganizationChange,
    work: (locked: LockedOrganization, transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    // Users who are not members must not make members wait for a lock. Their error is thrown in a transaction, which checks
    // the session first.
    const refusal = await this.refusalOf(id, by, right);
    return this.core.database.transaction(async (transaction) => {
      if (refusal !== null) throw refusal;
      const users = await this.lockUsers(by === null ? others : [by, ...others], transaction);
      const organization = await this.rows.lock(id, transaction);
      if (!organization) throw new AuthError('organization_not_found');
      const allowed = await this.requireRight(id, by, right, transaction);
      return work({ organization, users, allowed }, transaction);
    });
  }

  /** Locks users in the order of their ids. */
  async lockUsers(
    userIds: readonly string[],
    transaction: Transaction,
  ): Promise<ReadonlyMap<string, UserRecord>> {
    const users = new Map<string, UserRecord>();
    for (const id of [...new Set(userIds)].filter(isUuid).sort()) {
      const record = await this.core.users.lock(id, transaction);
      if (record) users.set(id, record);
    }
    return users;
  }

  /**
   * Requires that a user has a permission in an organization.
   *
   * @param permission null for something that every member can do
   * @returns what the user is allowed to do. Everything for your app's code
   * @throws AuthError `organization_not_found` for a user who is not a member, `permission_required`
   */
  async requireRight(
    organizationId: string,
    by: By,
    permission: OrganizationPermission | null,
    transaction?: Transaction,
  ): Promise<Permissions> {
    if (by === null) return this.permissionsOf(OWNER_ROLE);
    const membership = await this.rows.memberOf(organizationId, by, transaction);
    if (!membership) throw new AuthError('organization_not_found');
    if (permission !== null) this.requirePermission(membership, permission);
    return this.permissionsOf(membership.role);
  }

  /** @throws AuthError `permission_required` */
  requirePermission({ role }: Pick<Membership, 'role'>, permission: OrganizationPermission): void {
    if (!covers(this.permissionsOf(role), [permission])) throw new AuthError('permission_required');
  }

  /** Returns the error of {@link requireRight}. Null if the user has the right. */
  refusalOf(id: string, by: By, right: OrganizationPermission | null): Promise<unknown> {
    return this.requireRight(id, by, right).then(
      () => null,
      (error: unknown) => error,
    );
  }

  /** Returns what a role allows in an organization. A role that is not configured allows nothing. */
  permissionsOf(role: string): Permissions {
    return this.settings.roles.permissionsOf([role]);
  }

  /** Requires that roles can be given or taken by someone with these permissions. @throws AuthError `permission_required` */
  requireCovered(allowed: Permissions, roles: readonly string[]): void {
    if (!covers(allowed, this.settings.roles.permissionsOf(roles)))
      throw new AuthError('permission_required');
  }

  /** Requires that a role is configured. @throws AuthError `validation_failed` with `unknown_role` */
  requireRole(role: unknown): void {
    const { roles } = this.settings;
    if (typeof role !== 'string' || !roles.has(role))
      throw invalidField('/role', 'unknown_role', say('not-one-of', { values: roles.names }));
  }

  /**
   * Creates an organization, whose first owner is a user.
   *
   * @param check called when the user's row is locked, before anything is written
   * @throws AuthError `user_not_found`, `account_deleted`, `validation_failed`, `slug_taken`, and the errors of the hook
   */
  async create(
    given: OrganizationNames,
    ownerId: string,
    by: By,
    check?: (owner: UserRecord, transaction: Transaction) => Promise<void>,
  ): Promise<{ readonly organization: Organization; readonly membership: Membership }> {
    const { database, settings, events } = this.core;
    const { name, slug } = readNames(given);
    return database.transaction(async (transaction) => {
      const owner = (await this.lockUsers([ownerId], transaction)).get(ownerId);
      if (!owner) throw new AuthError('user_not_found');
      // An organization always has an owner whose account is active.
      if (isClosed(owner)) throw new AuthError('account_deleted');
      await check?.(owner, transaction);
      const createdAt = database.clock.date();
      const id = uuidv7(createdAt.getTime());
      const row = { id, name, slug, createdAt, updatedAt: createdAt };
      await uniquely(() => this.rows.organizations.insert(row, transaction));
      const organization = this.rows.organization.pick(row);
      events.emit('organization.created', { organizationId: id, userId: ownerId, byUserId: by }, transaction);
      const membership = await this.addMemberIn(
        organization,
        { userId: ownerId, role: OWNER_ROLE, via: 'created', by },
        transaction,
      );
      await runHook(database, transaction, (hook) =>
        settings.hooks.createOrganization?.(organization, Object.assign(hook, { ownerId })),
      );
      return { organization, membership };
    });
  }

  /**
   * Changes the name or slug.
   *
   * @throws AuthError `organization_not_found`, `permission_required`, `validation_failed`, `slug_taken`
   */
  async update(id: string, given: Partial<OrganizationNames>, by: By): Promise<Organization> {
    const { database, events } = this.core;
    const names = readNames(given);
    return this.within({ id, by, right: 'organization:update' }, async ({ organization }, transaction) => {
      const changed = { ...organization, ...names };
      if (changed.name === organization.name && changed.slug === organization.slug) return organization;
      const updatedAt = database.clock.date();
      await uniquely(() => this.rows.organizations.update({ ...names, updatedAt }, { id }, transaction));
      events.emit('organization.updated', { organizationId: id, byUserId: by }, transaction);
      return { ...changed, updatedAt };
    });
  }

  /**
   * Deletes an organization with its memberships and invitations.
   *
   * @throws AuthError `organization_not_found`, `permission_required`, `organization_in_use`, and the errors of the hook
   */
  async delete(id: string, by: By): Promise<void> {
    let isDone = false;
    try {
      await this.within({ id, by, right: 'organization:delete' }, async ({ organization }, transaction) => {
        isDone = false;
        await this.deleteIn(organization, by, transaction);
        isDone = true;
        await this.core.database.checkDeferred(transaction);
      });
    } catch (error) {
      // Deferred constraints are checked at the end.
      throw isDone ? asInUse(error) : error;
    }
  }

  /** Deletes an organization that the transaction has locked. */
  async deleteIn(organization: Organization, by: By, transaction: Transaction): Promise<void> {
    const { database, settings, events } = this.core;
    const { id: organizationId } = organization;
    await runHook(database, transaction, (hook) => settings.hooks.deleteOrganization?.(organization, hook));
    try {
      // The database deletes these rows too, unless foreign keys are disabled, which is possible on SQLite.
      await this.rows.invitations.delete({ organizationId }, transaction);
      await this.rows.members.delete({ organizationId }, transaction);
      await this.rows.organizations.delete({ id: organizationId }, transaction);
    } catch (error) {
      throw asInUse(error);
    }
    events.emit('organization.deleted', { organizationId, byUserId: by }, transaction);
  }

  /**
   * Adds a member.
   *
   * @throws AuthError `organization_not_found`, `user_not_found`, `validation_failed` for an unknown role,
   *   `already_member`, `organization_full`, `last_owner`
   */
  addMember(organizationId: string, { userId, role }: Pick<NewMember, 'userId' | 'role'>): Promise<Member> {
    const change = { id: organizationId, by: null, right: null, users: [userId] };
    return this.within(change, async ({ organization, users }, transaction) => {
      this.requireRole(role);
      const user = users.get(userId);
      if (!user) throw new AuthError('user_not_found');
      if (await this.rows.memberOf(organizationId, userId, transaction))
        throw new AuthError('already_member');
      await this.requireRoom(organization, user, role, transaction);
      await this.addMemberIn(organization, { userId, role, via: 'code', by: null }, transaction);
      return this.#member(organizationId, userId, transaction);
    });
  }

  /**
   * Requires that an organization can have another member.
   *
   * @throws AuthError `organization_full`; `last_owner` if neither a member nor the new one is an active owner
   */
  async requireRoom(
    { id }: Organization,
    user: UserRecord,
    role: string,
    transaction: Transaction,
  ): Promise<void> {
    if ((await this.rows.countMembers(id, transaction)) >= this.settings.maxMembers)
      throw new AuthError('organization_full');
    const isActiveOwner = role === OWNER_ROLE && !isClosed(user);
    if (!isActiveOwner && !(await this.rows.hasActiveOwner(id, transaction)))
      throw new AuthError('last_owner');
  }

  /** Adds a member to an organization that the transaction has locked, after the user. */
  async addMemberIn(
    organization: Organization,
    { userId, role, via, by }: NewMember,
    transaction: Transaction,
  ): Promise<Membership> {
    const createdAt = this.core.database.clock.date();
    const { id: organizationId } = organization;
    const row = { id: uuidv7(createdAt.getTime()), userId, organizationId, role, createdAt };
    await this.rows.members.insert(row, transaction);
    const details = { organizationId, userId, byUserId: by, role, via };
    this.core.events.emit('organization.member_added', details, transaction);
    if (role === OWNER_ROLE && via !== 'created') await this.#tellOwners(organization, userId, transaction);
    return this.rows.membership.pick(row);
  }

  /**
   * Changes the role of a member.
   *
   * @throws AuthError `organization_not_found`, `permission_required`, `member_not_found`, `validation_failed` for an
   *   unknown role, `last_owner`
   */
  setRole(organizationId: string, userId: string, role: string, by: By): Promise<Member> {
    return this.within(
      { id: organizationId, by, right: 'member:update', users: [userId] },
      async ({ organization, users, allowed }, transaction) => {
        const user = users.get(userId);
        const membership = await this.rows.memberOf(organizationId, userId, transaction);
        if (!user || !membership) throw new AuthError('member_not_found');
        const before = membership.role;
        if (role !== before) {
          this.requireRole(role);
          this.requireCovered(allowed, [before, role]);
          if (before === OWNER_ROLE) await this.#requireOtherOwner(organization, userId, transaction);
          await this.rows.members.update({ role }, { id: membership.id }, transaction);
          const details = { organizationId, userId, byUserId: by, before, after: role };
          this.core.events.emit('organization.member_role_changed', details, transaction);
          await this.#revokeBeyond(organization, userId, this.permissionsOf(role), { by, transaction });
          if (role === OWNER_ROLE) await this.#tellOwners(organization, userId, transaction);
        }
        return this.#member(organizationId, userId, transaction);
      },
    );
  }

  /**
   * Removes a member. Members can remove themselves without a permission.
   *
   * @throws AuthError `organization_not_found`, `permission_required`, `member_not_found`, `last_owner`
   */
  removeMember(organizationId: string, userId: string, by: By): Promise<void> {
    const isOneself = by === userId;
    const right = isOneself ? null : 'member:remove';
    const change = { id: organizationId, by, right, users: [userId] } as const;
    return this.within(change, async ({ organization, allowed }, transaction) => {
      const membership = await this.rows.memberOf(organizationId, userId, transaction);
      if (!membership) throw new AuthError('member_not_found');
      if (!isOneself) this.requireCovered(allowed, [membership.role]);
      if (membership.role === OWNER_ROLE) await this.#requireOtherOwner(organization, userId, transaction);
      await this.#revokeBeyond(organization, userId, [], { by, transaction });
      await this.rows.members.delete({ id: membership.id }, transaction);
      const details = { organizationId, userId, byUserId: by };
      this.core.events.emit('organization.member_removed', details, transaction);
    });
  }

  /** Deletes invitations of an organization that the transaction has locked. */
  async revoke(invitations: readonly Invitation[], by: By, transaction: Transaction): Promise<void> {
    for (const { id, organizationId } of invitations) {
      await this.rows.invitations.delete({ id }, transaction);
      const details = { organizationId, byUserId: by, invitationId: id };
      this.core.events.emit('organization.invitation_revoked', details, transaction);
    }
  }

  /** Revokes the invitations of a member that the member could not create with these permissions. */
  async #revokeBeyond(
    { id }: Organization,
    userId: string,
    allowed: Permissions,
    { by, transaction }: { readonly by: By; readonly transaction: Transaction },
  ): Promise<void> {
    const invitations = await this.rows.invitation.select(
      `WHERE i.organization_id = :id AND i.invited_by = :userId ${this.core.database.currentRead}`,
      { id, userId },
      transaction,
    );
    const beyond = invitations.filter(({ role }) => !this.canInvite(allowed, role));
    await this.revoke(beyond, by, transaction);
  }

  /** Returns what a member with a role can do, for pages. */
  rightsOf(role: string): MemberRights {
    const allowed = this.permissionsOf(role);
    const has = (permission: OrganizationPermission) => covers(allowed, [permission]);
    return {
      renames: has('organization:update'),
      deletes: has('organization:delete'),
      changesRoles: has('member:update'),
      removesMembers: has('member:remove'),
      invites: has('invitation:create'),
      covers: (other) => covers(allowed, this.permissionsOf(other)),
    };
  }

  /** Returns the names of all roles. The first one covers most of the others, and the last one fewest. */
  rolesByRights(): readonly string[] {
    const { names } = this.settings.roles;
    const covered = (role: string) => names.filter(this.rightsOf(role).covers).length;
    return [...names].sort((one, other) => covered(other) - covered(one));
  }

  /** Whether someone with these permissions can invite users with a role. */
  canInvite(allowed: Permissions, role: string): boolean {
    return covers(allowed, ['invitation:create', ...this.permissionsOf(role)]);
  }

  /** @throws AuthError `last_owner` if no active owner would be left without the user */
  async #requireOtherOwner({ id }: Organization, userId: string, transaction: Transaction): Promise<void> {
    if (!(await this.rows.hasActiveOwner(id, transaction, userId))) throw new AuthError('last_owner');
  }

  /** Sends notices about a new owner to the oldest owners, and to the new one. */
  async #tellOwners({ id, name }: Organization, userId: string, transaction: Transaction): Promise<void> {
    const owners = await this.rows.oldestOwners(id, MAX_NOTIFIED + 1, transaction);
    const others = owners.filter((one) => one !== userId).slice(0, MAX_NOTIFIED);
    const template = organizationNotices['organization-owner-added'];
    for (const one of [...others, userId]) {
      const user = await this.core.users.find(one, transaction);
      const notice = one === userId ? { ...template, ...FOR_NEW_OWNER } : template;
      if (user) await this.core.notices.plain(notice, user, transaction, { subject: name, byApp: true });
    }
  }

  async #member(organizationId: string, userId: string, transaction: Transaction): Promise<Member> {
    const member = await this.rows.member(organizationId, userId, transaction);
    if (!member) throw new AuthError('member_not_found');
    return member;
  }
}

/**
 * Writes an organization. Only its own error counts, because a hook's error can be about a unique constraint of the app's own
 * table.
 *
 * @throws AuthError `slug_taken`
 */
async function uniquely(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw violatedUnique(error)?.includes('slug') ? new AuthError('slug_taken', { cause: error }) : error;
  }
}

const FOR_NEW_OWNER = { text: 'organization-owner-added/new-owner' } as const;

function asInUse(error: unknown): unknown {
  return isForeignKeyViolation(error) ? new AuthError('organization_in_use', { cause: error }) : error;
}

const NAME = /^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]+$/u;

/** Checks names. @throws AuthError `validation_failed` with all errors */
export function readNames<Given extends Partial<OrganizationNames>>(given: Given): Given {
  const errors: GivenFieldError[] = [];
  const names: { name?: string; slug?: string } = {};
  if (given.name !== undefined) {
    const name = typeof given.name === 'string' ? given.name.trim() : '';
    if (!NAME.test(name) || name.length > MAX_NAME || !name.isWellFormed())
      errors.push({
        pointer: '/name',
        code: 'invalid_name',
        detail: say('invalid-name', { maximum: MAX_NAME }),
      });
    names.name = name;
  }
  if (given.slug !== undefined) {
    const { slug } = given;
    if (typeof slug !== 'string' || !SLUG.test(slug) || isUuid(slug))
      errors.push({ pointer: '/slug', code: 'invalid_slug', detail: say('invalid-slug') });
    names.slug = slug;
  }
  if (errors.length > 0) throw new AuthError('validation_failed', { errors });
  return names as Given;
}
