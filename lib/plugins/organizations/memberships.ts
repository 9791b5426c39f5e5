import type { AskedMembership, Memberships, RequestMembership } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { isUuid } from '../../crypto/uuid.js';
import type { Database } from '../../database/database.js';
import { AuthError } from '../../errors.js';
import type { Roles } from '../../permissions.js';
import type { NamedJoin } from '../../sessions/lookup.js';
import type { Selection } from '../../tables/table.js';
import { PERMISSIONS } from './options.js';
import { type OrganizationRows, SLUG } from './rows.js';

/** The column that organizations are found by. */
type Key = 'id' | 'slug';

/** Finds memberships for `requireMember`, in the statement that looks up the credential of the request. */
export class OrganizationMemberships implements Memberships {
  readonly permissions = PERMISSIONS;
  readonly joins: Readonly<Record<Key, NamedJoin>>;
  readonly #database: Database;
  readonly #organization: Selection<RequestMembership['organization']>;
  readonly #membership: Selection<RequestMembership['membership']>;

  constructor(
    { database }: Core,
    { organizations, members }: OrganizationRows,
    readonly roles: Roles,
  ) {
    this.#database = database;
    this.#organization = organizations.only('o', 'id', 'name', 'slug');
    this.#membership = members.only('m', 'role', 'createdAt');
    this.joins = { id: this.#joinBy('id'), slug: this.#joinBy('slug') };
  }

  ask(idOrSlug: unknown): AskedMembership {
    return new Asked(this, idOrSlug);
  }

  /** Reads what {@link joins} have selected. @throws AuthError `organization_not_found` */
  read(raw: object): RequestMembership {
    const membership = this.#membership.read(raw);
    // Without a membership, the columns are null.
    if ((membership.role as string | null) === null) throw new AuthError('organization_not_found');
    return { organization: this.#organization.read(raw), membership };
  }

  /** Selects the membership of a user in a statement of its own. @throws AuthError `organization_not_found` */
  async select(key: Key, name: string, userId: string): Promise<RequestMembership> {
    const [raw] = await this.#database.select<object>(
      `SELECT ${this.#organization.columns}, ${this.#membership.columns}
       FROM ${this.#membership.from} JOIN ${this.#organization.from} ON o.id = m.organization_id
       WHERE m.user_id = :userId AND o.${key} = :name`,
      { userId, name },
    );
    if (!raw) throw new AuthError('organization_not_found');
    return this.read(raw);
  }

  #joinBy(key: Key): NamedJoin {
    const { from: organizations } = this.#organization;
    const { from: members } = this.#membership;
    return {
      selected: [...this.#organization.selected, ...this.#membership.selected],
      nameType: key === 'id' ? 'uuid' : 'text',
      sql: (name) =>
        `LEFT JOIN ${organizations} ON o.${key} = ${name} LEFT JOIN ${members} ON m.organization_id = o.id AND m.user_id = u.id`,
    };
  }
}

/** A question for the membership in the organization that a request names. */
class Asked implements AskedMembership {
  readonly name: string;
  readonly join: NamedJoin;
  readonly #key: Key;
  #received: { readonly userId: string; readonly raw: object } | undefined;

  constructor(
    private readonly memberships: OrganizationMemberships,
    idOrSlug: unknown,
  ) {
    this.#key = isUuid(idOrSlug) ? 'id' : 'slug';
    const isName = typeof idOrSlug === 'string' && (this.#key === 'id' || SLUG.test(idOrSlug));
    // Look up an empty slug, which no organization has, so that a malformed name takes as long as an unknown one.
    this.name = isName ? idOrSlug : '';
    this.join = memberships.joins[this.#key];
  }

  receive(userId: string, raw: object): void {
    this.#received = { userId, raw };
  }

  of(userId: string): RequestMembership | Promise<RequestMembership> {
    return this.#received?.userId === userId
      ? this.memberships.read(this.#received.raw)
      : this.memberships.select(this.#key, this.name, userId);
  }
}
