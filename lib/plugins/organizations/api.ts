import type { Core } from '../../core/core.js';
import { endingWithObject } from '../../known-keys.js';
import type { TransactionOption } from '../../sessions/request.js';
import type { PageOptions } from '../../tables/pages.js';
import type { OrganizationChanges, OrganizationNames } from './changes.js';
import type { Invitation, Organization } from './declarations.js';
import type { Invitations } from './invitations.js';
import type { Listed, Member, OrganizationOfUser, OrganizationRows } from './rows.js';

/** The input of `auth.organizations.create`. */
export interface CreateOrganizationInput extends TransactionOption, OrganizationNames {
  /** The name: 1 to 100 visible characters. */
  readonly name: string;
  /** The name in addresses: 2 to 63 small letters, digits and single hyphens. It must not have the form of an id. */
  readonly slug: string;
  /** The id of the user who becomes the first owner. */
  readonly ownerId: string;
}

/** The input of `auth.organizations.update`. Omitted values stay unchanged. */
export interface UpdateOrganizationInput extends TransactionOption, Partial<OrganizationNames> {}

/** The input of `auth.organizations.invite`. */
export interface InviteInput extends TransactionOption {
  /** The address to invite. */
  readonly email: string;
  /** The role that the invited user will have. */
  readonly role: string;
  /** The id of the member who invites. @default null: your app */
  readonly invitedBy?: string | null;
}

/** Options of the lists of `auth.organizations`. */
export type ListOrganizationsOptions = PageOptions & TransactionOption;

/** A page of organizations. */
export interface OrganizationPage<One extends Organization = Organization> {
  readonly organizations: readonly One[];
  /** The cursor of the next page. Null if this is the last one. */
  readonly nextCursor: string | null;
}

/** A page of members. */
export interface MemberPage {
  readonly members: readonly Member[];
  /** The cursor of the next page. Null if this is the last one. */
  readonly nextCursor: string | null;
}

/** A page of invitations. */
export interface InvitationPage {
  readonly invitations: readonly Invitation[];
  /** The cursor of the next page. Null if this is the last one. */
  readonly nextCursor: string | null;
}

const PAGE_KEYS = ['limit', 'cursor'];

/**
 * `auth.organizations`: organizations and their members. The calls check neither who makes them nor permissions, and keep
 * every other rule.
 */
export class OrganizationsApi {
  readonly #core: Core;
  readonly #rows: OrganizationRows;
  readonly #changes: OrganizationChanges;
  /** Null without emails. */
  readonly #invitations: Invitations | null;

  /** @internal */
  constructor(
    core: Core,
    rows: OrganizationRows,
    changes: OrganizationChanges,
    invitations: Invitations | null,
  ) {
    this.#invitations = invitations;
    this.#core = core;
    this.#rows = rows;
    this.#changes = changes;
    endingWithObject('auth.organizations', this);
  }

  /**
   * Creates an organization, whose first owner is a user. `maxOwned` does not limit it.
   *
   * @throws AuthError `user_not_found` (404), `account_deleted` (403) if the deletion of the account is pending,
   *   `slug_taken` (409), `validation_failed` (422), and the errors of `hooks.createOrganization`
   */
  create(input: CreateOrganizationInput): Promise<Organization> {
    const { name, slug, ownerId } = input;
    return this.#core.call('auth.organizations.create', input, ['name', 'slug', 'ownerId'], async () => {
      const { organization } = await this.#changes.create({ name, slug }, ownerId, null);
      return organization;
    });
  }

  /**
   * Changes the name or slug of an organization.
   *
   * @throws AuthError `organization_not_found` (404), `slug_taken` (409), `validation_failed` (422)
   */
  update(organizationId: string, input: UpdateOrganizationInput): Promise<Organization> {
    const { name, slug } = input;
    return this.#core.call('auth.organizations.update', input, ['name', 'slug'], () =>
      this.#changes.update(organizationId, { name, slug } as Partial<OrganizationNames>, null),
    );
  }

  /** Returns an organization by its id or slug. Null if there is none. */
  get(idOrSlug: string, options: TransactionOption = {}): Promise<Organization | null> {
    return this.#core.call('auth.organizations.get', options, [], () => this.#rows.find(idOrSlug));
  }

  /** Lists all organizations, newest first. @throws AuthError `invalid_request` for an invalid limit or cursor */
  list(options: ListOrganizationsOptions = {}): Promise<OrganizationPage> {
    return this.#core.call('auth.organizations.list', options, PAGE_KEYS, async () =>
      asOrganizations(await this.#rows.list(pageOf(options))),
    );
  }

  /**
   * Lists the organizations of a user with the user's role in each, newest first.
   *
   * @throws AuthError `invalid_request` for an invalid limit or cursor
   */
  ofUser(
    userId: string,
    options: ListOrganizationsOptions = {},
  ): Promise<OrganizationPage<OrganizationOfUser>> {
    return this.#core.call('auth.organizations.ofUser', options, PAGE_KEYS, async () =>
      asOrganizations(await this.#rows.ofUser(userId, pageOf(options))),
    );
  }

  /**
   * Lists the members of an organization, newest first. Empty if there is no such organization.
   *
   * @throws AuthError `invalid_request` for an invalid limit or cursor
   */
  members(organizationId: string, options: ListOrganizationsOptions = {}): Promise<MemberPage> {
    return this.#core.call('auth.organizations.members', options, PAGE_KEYS, async () => {
      const { items: members, nextCursor } = await this.#rows.listMembers(organizationId, pageOf(options));
      return { members, nextCursor };
    });
  }

  /**
   * Adds a user to an organization.
   *
   * @throws AuthError `organization_not_found`, `user_not_found` (404), `already_member`, `organization_full`, `last_owner`
   *   (409), `validation_failed` (422) for a role that is not configured
   */
  addMember(
    organizationId: string,
    userId: string,
    role: string,
    options: TransactionOption = {},
  ): Promise<Member> {
    return this.#core.call('auth.organizations.addMember', options, [], () =>
      this.#changes.addMember(organizationId, { userId, role }),
    );
  }

  /**
   * Changes the role of a member. Invitations of the member that the new role does not allow are revoked.
   *
   * @throws AuthError `organization_not_found`, `member_not_found` (404), `last_owner` (409), `validation_failed` (422) for
   *   a role that is not configured
   */
  setRole(
    organizationId: string,
    userId: string,
    role: string,
    options: TransactionOption = {},
  ): Promise<Member> {
    return this.#core.call('auth.organizations.setRole', options, [], () =>
      this.#changes.setRole(organizationId, userId, role, null),
    );
  }

  /**
   * Removes a member, and revokes the member's invitations.
   *
   * @throws AuthError `organization_not_found`, `member_not_found` (404), `last_owner` (409)
   */
  removeMember(organizationId: string, userId: string, options: TransactionOption = {}): Promise<void> {
    return this.#core.call('auth.organizations.removeMember', options, [], () =>
      this.#changes.removeMember(organizationId, userId, null),
    );
  }

  /**
   * Invites an address. The token is only in the email. An earlier invitation of the address is replaced.
   *
   * @throws AuthError `organization_not_found`, `member_not_found` (404) for `invitedBy`, `permission_required` (403) if
   *   `invitedBy` could not give the role, `already_member`, `too_many_invitations` (409), `validation_failed` (422),
   *   `rate_limited` (429)
   * @throws TypeError if `email` is not configured
   */
  invite(organizationId: string, input: InviteInput): Promise<Invitation> {
    const { email, role, invitedBy = null } = input;
    return this.#core.call('auth.organizations.invite', input, ['email', 'role', 'invitedBy'], () => {
      const invitations = this.#requireInvitations('invite');
      return invitations.createByCode(organizationId, { email, role }, invitedBy);
    });
  }

  /**
   * Lists the pending invitations of an organization, newest first. Empty without `email` in the config.
   *
   * @throws AuthError `invalid_request` for an invalid limit or cursor
   */
  invitations(organizationId: string, options: ListOrganizationsOptions = {}): Promise<InvitationPage> {
    return this.#core.call('auth.organizations.invitations', options, PAGE_KEYS, async () => {
      const { items = [], nextCursor = null } =
        (await this.#invitations?.list(organizationId, pageOf(options))) ?? {};
      return { invitations: items, nextCursor };
    });
  }

  /**
   * Revokes an invitation.
   *
   * @throws AuthError `organization_not_found`, `invitation_not_found` (404)
   * @throws TypeError if `email` is not configured
   */
  revokeInvitation(
    organizationId: string,
    invitationId: string,
    options: TransactionOption = {},
  ): Promise<void> {
    return this.#core.call('auth.organizations.revokeInvitation', options, [], () =>
      this.#requireInvitations('revokeInvitation').revoke(organizationId, invitationId, null),
    );
  }

  #requireInvitations(call: string): Invitations {
    if (this.#invitations) return this.#invitations;
    throw new TypeError(`latchkey: auth.organizations.${call} requires email in the config`);
  }

  /**
   * Deletes an organization with its memberships and invitations.
   *
   * @throws AuthError `organization_not_found` (404), `organization_in_use` (409) if rows of your app refer to it and
   *   cannot be deleted, and the errors of `hooks.deleteOrganization`
   */
  delete(organizationId: string, options: TransactionOption = {}): Promise<void> {
    return this.#core.call('auth.organizations.delete', options, [], () =>
      this.#changes.delete(organizationId, null),
    );
  }
}

function pageOf({ limit, cursor }: ListOrganizationsOptions): PageOptions {
  return { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
}

function asOrganizations<One extends Organization>({
  items: organizations,
  nextCursor,
}: Listed<One>): OrganizationPage<One> {
  return { organizations, nextCursor };
}
