import type { Transaction } from 'sequelize';
import { isClosed } from '../../accounts/deletion.js';
import type { GivenOrganization, ImportsOrganizations } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { uuidv7 } from '../../crypto/uuid.js';
import { slicesOf } from '../../database/batches.js';
import { type AuthError, invalidField } from '../../errors.js';
import { runHook } from '../../users/updates.js';
import { readNames } from './changes.js';
import { type OrganizationSettings, OWNER_ROLE } from './options.js';
import type { OrganizationRows } from './rows.js';

type GivenMembers = GivenOrganization['members'];

/** Creates the organizations of an import: see `auth.movingIn.importOrganizations`. */
export function importerOf(
  core: Core,
  rows: OrganizationRows,
  settings: OrganizationSettings,
): ImportsOrganizations {
  const { database, users } = core;

  /** Locks the users in the order of their ids. @returns the users who exist, and whether their accounts are closed */
  async function lockMembers(
    members: GivenMembers,
    transaction: Transaction,
  ): Promise<ReadonlyMap<string, boolean>> {
    const found = new Map<string, boolean>();
    const ids = members.map(({ userId }) => userId).sort();
    // Lock many users with one statement, because the members of a large organization must fit into a transaction.
    const lock = database.dialect === 'sqlite' ? '' : 'FOR UPDATE';
    const closed = 'deletedAt' in users.columns ? 'u.deleted_at IS NOT NULL' : 'FALSE';
    for await (const some of slicesOf(ids)) {
      const raws = await database.select<{ id: string; closed: unknown }>(
        `SELECT u.id AS id, ${closed} AS closed FROM ${users.table.name} u WHERE u.id IN (:some) ORDER BY u.id ${lock}`,
        { some },
        transaction,
      );
      for (const { id, closed } of raws) found.set(id, Boolean(closed));
    }
    return found;
  }

  /** Returns the first owner whose account is active, which no other call can close until the transaction ends. */
  async function lockOwner(members: GivenMembers, transaction: Transaction): Promise<string> {
    const locked = await lockMembers(members, transaction);
    for (const [index, { userId }] of members.entries()) if (!locked.has(userId)) throw unknownUser(index);
    for (const { userId, role } of members) {
      if (role !== OWNER_ROLE || locked.get(userId) !== false) continue;
      // The lock of other nodes of a cluster too.
      const owner = await users.lock(userId, transaction);
      if (owner && !isClosed(owner)) return userId;
    }
    throw missingOwner('has no owner whose account is active');
  }

  async function requireFreeSlug(slug: string, transaction: Transaction): Promise<void> {
    const taken = await rows.organization.select(
      `WHERE o.slug = :slug ${database.currentRead}`,
      { slug },
      transaction,
    );
    if (taken.length > 0) throw invalidField('/slug', 'slug_taken', 'is taken by another organization');
  }

  return {
    async exists(id, transaction) {
      const found = await rows.organization.select('WHERE o.id = :id', { id }, transaction);
      return found.length > 0;
    },
    async create({ id, createdAt, members, ...given }, transaction) {
      const { name, slug } = readNames(given);
      checkMembers(members, settings);
      const ownerId = await lockOwner(members, transaction);
      await requireFreeSlug(slug, transaction);
      const row = { id, name, slug, createdAt, updatedAt: createdAt };
      await rows.organizations.insert(row, transaction);
      const since = database.clock.date();
      for await (const some of slicesOf(members)) {
        const ofMembers = some.map(({ userId, role }) => ({
          ...{ id: uuidv7(since.getTime()), userId, organizationId: id, role },
          createdAt: since,
        }));
        await rows.members.insert(ofMembers, transaction);
      }
      await runHook(database, transaction, (hook) =>
        core.settings.hooks.createOrganization?.(
          rows.organization.pick(row),
          Object.assign(hook, { ownerId }),
        ),
      );
    },
  };
}

/** @throws AuthError `validation_failed` */
function checkMembers(members: GivenMembers, { roles, maxMembers }: OrganizationSettings): void {
  const seen = new Set<string>();
  for (const [index, { userId, role }] of members.entries()) {
    if (!roles.has(role))
      throw invalidField(
        `/members/${index}/role`,
        'unknown_role',
        `must be one of ${roles.names.join(', ')}`,
      );
    if (seen.has(userId))
      throw invalidField(
        `/members/${index}/userRef`,
        'already_member',
        'is the user of an earlier member in the list',
      );
    seen.add(userId);
  }
  if (members.length > maxMembers)
    throw invalidField('/members', 'organization_full', `has more than ${maxMembers} members (maxMembers)`);
  if (!members.some(({ role }) => role === OWNER_ROLE)) throw missingOwner('has no owner');
}

function missingOwner(detail: string): AuthError {
  return invalidField('/members', 'missing_owner', detail);
}

function unknownUser(index: number): AuthError {
  return invalidField(`/members/${index}/userRef`, 'unknown_user', 'has no account here');
}
