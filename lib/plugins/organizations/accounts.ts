import type { Transaction } from 'sequelize';
import type { Contribution } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { UndoRules } from '../../notices/changes.js';
import type { OrganizationChanges } from './changes.js';
import type { Organization } from './declarations.js';
import { OWNER_ROLE } from './options.js';
import type { OrganizationRows } from './rows.js';

type Follows = Pick<
  Contribution,
  'onDelete' | 'onDeletionRequested' | 'onFirstProof' | 'undo' | 'deletionProblems'
>;

/** What happens to organizations when an account is deleted or recovered. The user's row is always locked. */
export function followAccounts(
  { events, database }: Core,
  rows: OrganizationRows,
  changes: OrganizationChanges,
): Follows {
  /** Returns the ids of the organizations that a user owns. */
  const ownedBy = async (userId: string, transaction: Transaction) => {
    const where = `WHERE m.user_id = :userId AND m.role = '${OWNER_ROLE}' ${database.currentRead}`;
    const found = await rows.membership.select(where, { userId }, transaction);
    return found.map(({ organizationId }) => organizationId);
  };

  /** Returns the pending invitations that a user has created. */
  const invitationsBy = (userId: string, transaction: Transaction) =>
    rows.invitation.select(`WHERE i.invited_by = :userId ${database.currentRead}`, { userId }, transaction);

  /**
   * Locks the organizations that a user owns, of which the user is not the last active owner. No lock of the others is needed,
   * because a change of the user's role in them would wait for the lock of the user.
   *
   * @returns the organizations whose only member is the user
   * @throws AuthError `last_owner`
   */
  async function lockOwned(userId: string, transaction: Transaction): Promise<readonly Organization[]> {
    const own: Organization[] = [];
    for (const organization of await rows.lockAll(await ownedBy(userId, transaction), transaction)) {
      const { id } = organization;
      if ((await rows.countMembers(id, transaction)) === 1) own.push(organization);
      else if (!(await rows.hasActiveOwner(id, transaction, userId))) throw new AuthError('last_owner');
    }
    return own;
  }

  /** Locks the organizations to which a user has invited people, and others. */
  async function lockInvited(
    userId: string,
    others: readonly string[],
    transaction: Transaction,
  ): Promise<void> {
    const invited = (await invitationsBy(userId, transaction)).map(({ organizationId }) => organizationId);
    await rows.lockAll([...invited, ...others], transaction);
  }

  /** Revokes the pending invitations that a user has created. */
  async function revokeInvitationsOf(userId: string, transaction: Transaction): Promise<void> {
    await lockInvited(userId, [], transaction);
    // Some might have been accepted before the locks.
    await changes.revoke(await invitationsBy(userId, transaction), null, transaction);
  }

  const undo: UndoRules = {
    name: 'organizations',
    announces: [],
    snapshot: async () => null,
    // An attacker who made the change might have sent invitations too.
    restore: ({ record }, transaction) => revokeInvitationsOf(record.user.id, transaction),
  };

  return {
    undo,
    deletionProblems: ['last_owner', 'organization_in_use'],
    onFirstProof: revokeInvitationsOf,
    async onDelete(userId, transaction) {
      // Two users who are deleted at the same time must lock in the same order.
      await lockInvited(userId, await ownedBy(userId, transaction), transaction);
      for (const organization of await lockOwned(userId, transaction))
        await changes.deleteIn(organization, null, transaction);
      await revokeInvitationsOf(userId, transaction);
      const where = `WHERE m.user_id = :userId ${database.currentRead}`;
      const left = await rows.membership.select(where, { userId }, transaction);
      await rows.members.delete({ userId }, transaction);
      for (const { organizationId } of left)
        events.emit('organization.member_removed', { organizationId, userId, byUserId: null }, transaction);
    },
    async onDeletionRequested(userId, transaction) {
      // The organizations are deleted together with the account.
      for (const { id } of await lockOwned(userId, transaction)) {
        const where = `WHERE i.organization_id = :id ${database.currentRead}`;
        await changes.revoke(await rows.invitation.select(where, { id }, transaction), null, transaction);
      }
    },
  };
}
