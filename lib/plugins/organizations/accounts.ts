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
  { database, events }: Core,
  rows: OrganizationRows,
  changes: OrganizationChanges,
): Follows {
  /**
   * Locks the organizations that a user owns, of which the user is not the last active owner. No lock of the others is needed,
   * because a change of the user's role in them would wait for the lock of the user.
   *
   * @returns the organizations whose only member is the user
   * @throws AuthError `last_owner`
   */
  async function lockOwned(userId: string, transaction: Transaction): Promise<readonly Organization[]> {
    const owned = await rows.membership.select(
      `WHERE m.user_id = :userId AND m.role = '${OWNER_ROLE}' ${database.currentRead}`,
      { userId },
      transaction,
    );
    const ids = owned.map(({ organizationId }) => organizationId);
    const own: Organization[] = [];
    for (const organization of await rows.lockAll(ids, transaction)) {
      const { id } = organization;
      if ((await rows.countMembers(id, transaction)) === 1) own.push(organization);
      else if (!(await rows.hasActiveOwner(id, transaction, userId))) throw new AuthError('last_owner');
    }
    return own;
  }

  /** Revokes the pending invitations that a user has created. */
  async function revokeInvitationsOf(userId: string, transaction: Transaction): Promise<void> {
    const ofUser = () =>
      rows.invitation.select(`WHERE i.invited_by = :userId ${database.currentRead}`, { userId }, transaction);
    const ids = (await ofUser()).map(({ organizationId }) => organizationId);
    if ((await rows.lockAll(ids, transaction)).length === 0) return;
    // Some might have been accepted before the locks.
    const invitations = await ofUser();
    await changes.revoke(invitations, null, transaction);
  }

  const undo: UndoRules = {
    name: 'organizations',
    announces: [],
    snapshot: async () => null,
    // Whoever made the change can have invited people too.
    restore: ({ record }, transaction) => revokeInvitationsOf(record.user.id, transaction),
  };

  return {
    undo,
    deletionProblems: ['last_owner', 'organization_in_use'],
    onFirstProof: revokeInvitationsOf,
    async onDelete(userId, transaction) {
      for (const organization of await lockOwned(userId, transaction))
        await changes.deleteIn(organization, null, transaction);
      await revokeInvitationsOf(userId, transaction);
      const left = await rows.membership.select('WHERE m.user_id = :userId', { userId }, transaction);
      await rows.members.delete({ userId }, transaction);
      for (const { organizationId } of left)
        events.emit('organization.member_removed', { organizationId, userId, byUserId: null }, transaction);
    },
    async onDeletionRequested(userId, transaction) {
      // The organizations are deleted together with the account.
      for (const { id } of await lockOwned(userId, transaction)) {
        const pending = await rows.invitation.select('WHERE i.organization_id = :id', { id }, transaction);
        await changes.revoke(pending, null, transaction);
      }
    },
  };
}
