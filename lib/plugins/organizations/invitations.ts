import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { createToken, digestToken, isWellFormedToken } from '../../crypto/token.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import { AuthError } from '../../errors.js';
import type { Mails } from '../../mail/mails.js';
import { defused } from '../../mail/messages.js';
import type { SessionAuthentication } from '../../sessions/request.js';
import type { SignedIn } from '../../sessions/signed-in.js';
import { cutPage, type PageOptions, readPage } from '../../tables/pages.js';
import { readEmail } from '../../users/canonical.js';
import { EmailProof } from '../../users/email-proof.js';
import type { UserRecord } from '../../users/record.js';
import type { IssuedLink } from '../../verification/delivery.js';
import type { By, OrganizationChanges } from './changes.js';
import {
  type Invitation,
  type InvitationRow,
  MAIL_KIND,
  type Membership,
  type Organization,
} from './declarations.js';
import type { OrganizationSettings } from './options.js';
import type { Listed, OrganizationRows } from './rows.js';

/** The prefix of tokens. */
const PREFIX = 'lki_';

/** The maximum number of pending invitations of an organization. */
const MAX_PENDING = 200;

/** Who gets an invitation, and with which role. */
export interface NewInvitation {
  readonly email: string;
  readonly role: string;
}

/** An invitation that can be accepted. */
export interface OpenInvitation {
  readonly row: InvitationRow;
  readonly organization: Organization;
  /** The member who invites. Null if your app's code does. */
  readonly inviter: UserRecord | null;
  /** Whether an account has the address, or an undo might restore it to one. */
  readonly hasAccount: boolean;
}

/** An accepted invitation. */
export interface Accepted {
  readonly organization: Organization;
  readonly membership: Membership;
  /** The session of a new account. Null if a session accepted it. */
  readonly issued: SignedIn | null;
}

/** Creates, emails, accepts and revokes invitations. Their tokens are only in the emails. */
export class Invitations {
  constructor(
    private readonly core: Core,
    private readonly mails: Mails,
    private readonly services: {
      readonly rows: OrganizationRows;
      readonly changes: OrganizationChanges;
      readonly settings: OrganizationSettings;
    },
  ) {}

  /** Whether an invitation can create the account of its address, if there is a way to sign up. */
  get createsAccounts(): boolean {
    return this.services.settings.signUp ?? this.core.settings.signUp === 'open';
  }

  /**
   * Invites an address, or replaces its invitation. The response does not depend on whether an account has the address.
   *
   * @throws AuthError `organization_not_found`, `permission_required`, `validation_failed`, `already_member`,
   *   `too_many_invitations`, `rate_limited`
   */
  async create(organizationId: string, given: NewInvitation, by: By): Promise<Invitation> {
    const email = readEmail(given.email, '/email');
    const { limiter } = this.core;
    const work = () => this.#create(organizationId, { ...given, email }, by);
    // Requests of others must not use up the limit of the organization for a moment.
    const refusal = await this.services.changes.refusalOf(organizationId, by, 'invitation:create');
    if (refusal !== null) return work();
    const counted = () => limiter.countSuccess('organizationInvitation', organizationId, work);
    return by === null ? counted() : limiter.countSuccess('invitation', by, counted);
  }

  /**
   * Like {@link create}, for your app's code.
   *
   * @throws AuthError `member_not_found` if the inviter is not a member
   */
  async createByCode(organizationId: string, given: NewInvitation, invitedBy: By): Promise<Invitation> {
    if (invitedBy === null) return this.create(organizationId, given, null);
    const { rows } = this.services;
    const isThere = (await rows.find(organizationId)) !== null;
    const isMember = (await rows.memberOf(organizationId, invitedBy)) !== null;
    if (isThere && !isMember) throw new AuthError('member_not_found');
    return this.create(organizationId, given, invitedBy);
  }

  #create(organizationId: string, { email, role }: NewInvitation, by: By): Promise<Invitation> {
    const { database, events } = this.core;
    const { changes, rows, settings } = this.services;
    const change = { id: organizationId, by, right: 'invitation:create' } as const;
    return changes.within(change, async ({ allowed }, transaction) => {
      changes.requireRole(role);
      changes.requireCovered(allowed, [role]);
      await this.#requireNoMember(organizationId, email, transaction);
      const [earlier] = await rows.invitation.select(
        `WHERE i.organization_id = :organizationId AND i.email = :email ${database.currentRead}`,
        { organizationId, email },
        transaction,
      );
      const isPendingOne = earlier !== undefined && !database.clock.hasPassed(earlier.expiresAt);
      if (!isPendingOne) await this.#requireFew(organizationId, transaction);
      const createdAt = database.clock.date();
      const expiresAt = database.clock.date(settings.invitationMs);
      const changed = { role, invitedBy: by, createdAt };
      const row: Invitation = {
        id: earlier?.id ?? uuidv7(createdAt.getTime()),
        organizationId,
        email,
        ...changed,
        expiresAt,
      };
      // The token is issued when the email is sent. Until then, an earlier one works, and so does its end.
      if (isPendingOne) await rows.invitations.update(changed, { id: row.id }, transaction);
      else {
        await rows.invitations.delete({ organizationId, email }, transaction);
        await rows.invitations.insert({ ...row, tokenHash: digestToken(createToken(PREFIX)) }, transaction);
      }
      const asked = { inSession: false, device: null };
      const ref = JSON.stringify([row.id, createdAt.getTime()]);
      await this.mails.addressed({ kind: MAIL_KIND, email, ref, asked }, transaction);
      const details = { organizationId, byUserId: by, invitationId: row.id };
      events.emit('organization.invitation_created', details, transaction);
      return row;
    });
  }

  async #requireNoMember(organizationId: string, email: string, transaction: Transaction): Promise<void> {
    const { users, database } = this.core;
    const found = await this.services.rows.membership.select(
      `JOIN ${users.table.name} u ON u.id = m.user_id
       WHERE m.organization_id = :organizationId AND u.email = :email ${database.currentRead}`,
      { organizationId, email },
      transaction,
    );
    if (found.length > 0) throw new AuthError('already_member');
  }

  async #requireFew(organizationId: string, transaction: Transaction): Promise<void> {
    const { clock, currentRead } = this.core.database;
    const pending = await this.services.rows.invitation.select(
      `WHERE i.organization_id = :organizationId AND i.expires_at > :now LIMIT ${MAX_PENDING} ${currentRead}`,
      { organizationId, now: clock.date() },
      transaction,
    );
    if (pending.length >= MAX_PENDING) throw new AuthError('too_many_invitations');
  }

  /** Lists the pending invitations of an organization, newest first. */
  async list(organizationId: string, options: PageOptions): Promise<Listed<Invitation>> {
    const { limit, before } = readPage(options);
    if (!isUuid(organizationId)) return { items: [], nextCursor: null };
    await this.core.database.ready();
    const older = before === null ? '' : 'AND i.id < :before';
    const found = await this.services.rows.invitation.select(
      `WHERE i.organization_id = :organizationId AND i.expires_at > :now ${older}
       ORDER BY i.id DESC LIMIT ${limit + 1}`,
      { organizationId, before, now: this.core.database.clock.date() },
    );
    const { page, nextCursor } = cutPage(found, limit);
    return { items: page, nextCursor };
  }

  /** Revokes an invitation. @throws AuthError `organization_not_found`, `permission_required`, `invitation_not_found` */
  revoke(organizationId: string, invitationId: string, by: By): Promise<void> {
    const { database } = this.core;
    const { changes, rows } = this.services;
    const change = { id: organizationId, by, right: 'invitation:create' } as const;
    return changes.within(change, async (_locked, transaction) => {
      const [invitation] = isUuid(invitationId)
        ? await rows.invitation.select(
            `WHERE i.id = :invitationId AND i.organization_id = :organizationId ${database.currentRead}`,
            { invitationId, organizationId },
            transaction,
          )
        : [];
      if (!invitation || database.clock.hasPassed(invitation.expiresAt))
        throw new AuthError('invitation_not_found');
      await changes.revoke([invitation], by, transaction);
    });
  }

  /** Issues the token of an invitation that is about to be emailed. Null if it was replaced or revoked meanwhile. */
  async issue(ref: string): Promise<IssuedLink | null> {
    const { database, settings, users } = this.core;
    const { rows, settings: own } = this.services;
    const [id, at] = JSON.parse(ref) as [string, number];
    const [row] = await rows.wholeInvitation.select('WHERE i.id = :id', { id });
    const organization = row && (await rows.find(row.organizationId));
    if (!row || !organization || row.createdAt.getTime() !== at) return null;
    const token = createToken(PREFIX);
    const expiresAt = database.clock.date(own.invitationMs);
    const issued = { tokenHash: digestToken(token), expiresAt };
    const where = { id, tokenHash: row.tokenHash, createdAt: row.createdAt };
    if ((await rows.invitations.update(issued, where)) === 0) return null;
    const inviter = row.invitedBy === null ? null : await users.find(row.invitedBy);
    const who = inviter?.email ?? inviter?.usernameDisplay ?? null;
    const values = { inviter: who === null ? null : defused(who), organization: defused(organization.name) };
    return {
      token,
      lifetimeMs: own.invitationMs,
      template: {
        kind: MAIL_KIND,
        text: MAIL_KIND,
        values,
        page: settings.email?.joinUrl ?? '',
      },
    };
  }

  /**
   * Finds an invitation that can be accepted.
   *
   * @throws AuthError `invalid_token`
   */
  async find(token: string): Promise<OpenInvitation> {
    const { held, users } = this.core;
    await this.core.database.ready();
    const row = await this.#rowOf(token);
    const found = row && (await this.#openOf(row));
    if (!row || !found) throw new AuthError('invalid_token');
    const { email } = row;
    const hasAccount = (await users.findRecord({ email })) !== null || (await held.isHeld(email, null));
    return { row, ...found, hasAccount };
  }

  /** Whether someone is invited who can create an account, even if sign-ups are closed. */
  async isInvited(email: string, transaction?: Transaction): Promise<boolean> {
    if (!this.createsAccounts) return false;
    const found = await this.services.rows.wholeInvitation.select(
      `WHERE i.email = :email ORDER BY i.id DESC LIMIT ${MAX_LOOKED_AT}`,
      { email },
      transaction,
    );
    for (const row of found) if ((await this.#openOf(row, transaction)) !== null) return true;
    return false;
  }

  /** Returns the organization and the inviter of an invitation. Null if it can no longer be accepted. */
  async #openOf(
    row: InvitationRow,
    transaction?: Transaction,
  ): Promise<Pick<OpenInvitation, 'organization' | 'inviter'> | null> {
    const { rows, settings } = this.services;
    const { organizationId, role, invitedBy } = row;
    if (this.core.database.clock.hasPassed(row.expiresAt) || !settings.roles.has(role)) return null;
    const organization = await rows.find(organizationId, transaction);
    if (!organization || !(await rows.hasActiveOwner(organizationId, transaction))) return null;
    if (invitedBy === null) return { organization, inviter: null };
    const inviter = await this.#inviterOf(row, invitedBy, transaction);
    return inviter && { organization, inviter };
  }

  /** Returns the inviter. Null if the inviter could not create the invitation now. */
  async #inviterOf(
    { organizationId, role }: InvitationRow,
    invitedBy: string,
    transaction?: Transaction,
  ): Promise<UserRecord | null> {
    const { changes, rows } = this.services;
    const membership = await rows.memberOf(organizationId, invitedBy, transaction);
    if (!membership || !changes.canInvite(changes.permissionsOf(membership.role), role)) return null;
    const inviter = await this.core.users.findRecord({ id: invitedBy }, transaction);
    if (!inviter) return null;
    try {
      this.core.checkAccount(inviter.account);
    } catch (error) {
      if (error instanceof AuthError) return null;
      throw error;
    }
    return inviter;
  }

  /**
   * Accepts an invitation in the session of a user, whose email it proves.
   *
   * @throws AuthError `invalid_token`, `invitation_for_other_email`, `organization_full`, `invalid_session`
   */
  async accept(token: string, { user }: SessionAuthentication): Promise<Accepted> {
    const { email, organizationId } = (await this.find(token)).row;
    if (user.email !== email) throw new AuthError('invitation_for_other_email');
    return this.core.database.transaction(async (transaction) => {
      const record = await this.core.users.lock(user.id, transaction);
      if (!record) throw new AuthError('invalid_session');
      if (record.user.email !== email) throw new AuthError('invitation_for_other_email');
      const { organization, role } = await this.#consume(token, organizationId, transaction);
      // The link proves access to the mailbox, and the session that the account is the user's own.
      const proof = { proof: EmailProof.answeredMail, isOwn: true };
      const proven = await this.core.emailProofs.record(record, proof, transaction);
      const membership = await this.#join(organization, proven, role, transaction);
      return { organization, membership, issued: null };
    });
  }

  /**
   * Accepts an invitation of an address that has no account: creates the account, the membership and a session, all or
   * nothing.
   *
   * @throws AuthError `invalid_token`, `account_exists`, `sign_up_refused`, `validation_failed`, `organization_full`, and the
   *   errors of hooks
   */
  async signUp(
    token: string,
    body: Readonly<Record<string, unknown>>,
    remembered: boolean,
  ): Promise<Accepted> {
    const { row, hasAccount } = await this.find(token);
    if (hasAccount) throw new AuthError('account_exists');
    const [signsUp] = this.core.contributions.flatMap((one) => one.signsUp ?? []);
    if (!this.createsAccounts || !signsUp) throw new AuthError('sign_up_refused');
    const { person: given, fields } = await signsUp.prepare(row.email, body);
    const person = { ...given, emailProof: EmailProof.answeredMail };
    const account = this.core.users.newRow(person);
    return this.core
      .countSignIn('sign_up', async () => {
        const checked = await this.core.checkSignIn(
          { user: account, account, row: null, amr: AMR },
          { remembered, isSignUp: true, isYetToBeMade: true },
        );
        const accepted = await this.core.database.transaction(async (transaction) => {
          const context = { via: 'invitation', from: 'user', fields } as const;
          const created = await this.core.signUp.create(person, context, transaction);
          const { organization, role } = await this.#consume(token, row.organizationId, transaction);
          const membership = await this.#join(organization, created, role, transaction);
          return { organization, membership, issued: await checked.begin(created, transaction) };
        });
        await checked.complete(accepted.issued);
        return { ...accepted.issued, accepted };
      })
      .then(({ accepted }) => accepted)
      .catch((error) => {
        const isTaken = error instanceof AuthError && error.code === 'email_taken';
        throw isTaken ? new AuthError('account_exists') : error;
      });
  }

  /** Locks an organization, and consumes an invitation to it. Of several concurrent calls, one succeeds. */
  async #consume(
    token: string,
    organizationId: string,
    transaction: Transaction,
  ): Promise<{ readonly organization: Organization; readonly role: string }> {
    const { rows } = this.services;
    const organization = await rows.lock(organizationId, transaction);
    const row = await this.#rowOf(token, transaction);
    const isOpen = organization && row && (await this.#openOf(row, transaction)) !== null;
    if (!isOpen) throw new AuthError('invalid_token');
    const { id, role, tokenHash } = row;
    // The email of a new invitation might be on its way, whose token replaces this one without the lock.
    const used = await rows.invitations.delete({ id, tokenHash }, transaction);
    if (used === 0) throw new AuthError('invalid_token');
    return { organization, role };
  }

  /** Makes a user a member. A user who is a member already keeps the role. */
  async #join(
    organization: Organization,
    user: UserRecord,
    role: string,
    transaction: Transaction,
  ): Promise<Membership> {
    const { changes, rows } = this.services;
    const { id: userId } = user.user;
    const existing = await rows.memberOf(organization.id, userId, transaction);
    if (existing) return existing;
    await changes.requireRoom(organization, user, role, transaction);
    return changes.addMemberIn(organization, { userId, role, via: 'invitation', by: userId }, transaction);
  }

  async #rowOf(token: string, transaction?: Transaction): Promise<InvitationRow | null> {
    if (!isWellFormedToken(PREFIX, token)) return null;
    const read = transaction ? this.core.database.currentRead : '';
    const [row = null] = await this.services.rows.wholeInvitation.select(
      `WHERE i.token_hash = :tokenHash ${read}`,
      { tokenHash: digestToken(token) },
      transaction,
    );
    return row;
  }
}

/** The emailed link is what a new user has proven. */
const AMR = ['email'];

/** The maximum number of invitations of an address that are looked at to decide whether it can sign up. */
const MAX_LOOKED_AT = 20;
