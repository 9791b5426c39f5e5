import type { AskedMembership, Memberships, RequestMembership } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { isUuid } from '../../crypto/uuid.js';
import type { Database } from '../../database/database.js';
import { AuthError } from '../../errors.js';
import type { Call } from '../../http/route.js';
import type { Roles } from '../../permissions.js';
import type { Alongside, NamedJoin } from '../../sessions/lookup.js';
import type { Selection } from '../../tables/table.js';
import { NOBODY } from '../../users/record.js';
import type { Membership, Organization } from './declarations.js';
import { PERMISSIONS } from './options.js';
import { type OrganizationRows, SLUG } from './rows.js';

/** The column that organizations are found by. */
type Key = 'id' | 'slug';

/** Finds memberships for `requireMember`, in the statement that looks up the credential of the request. */
export class OrganizationMemberships implements Memberships {
  readonly permissions = PERMISSIONS;
  readonly #reads: MembershipReads<RequestMembership['organization'], RequestMembership['membership']>;

  constructor(
    { database }: Core,
    { organizations, members }: OrganizationRows,
    readonly roles: Roles,
  ) {
    this.#reads = new MembershipReads(
      database,
      organizations.only('o', 'id', 'name', 'slug'),
      members.only('m', 'role', 'createdAt'),
    );
  }

  ask(idOrSlug: unknown): AskedMembership {
    const key = isUuid(idOrSlug) ? 'id' : 'slug';
    const isName = typeof idOrSlug === 'string' && (key === 'id' || SLUG.test(idOrSlug));
    // Look up an empty slug, which no organization has, so that a malformed name takes as long as an unknown one.
    return new Asked(this.#reads, key, isName ? idOrSlug : '');
  }
}

/** Finds memberships for latchkey's own routes, in the statement that looks up the session of the request. */
export class MembershipsOfRoutes {
  readonly #reads: MembershipReads<Organization, Membership>;

  constructor({ database }: Core, { organization, membership }: OrganizationRows) {
    this.#reads = new MembershipReads(database, organization, membership);
  }

  /** Asks for the membership in the organization of a path: see `Route.alongside`. */
  readonly ask = ({ id }: Readonly<Record<string, string>>): Alongside => this.#ask(id);

  /** Returns the organization of a path, and the membership of the user. @throws AuthError `organization_not_found` */
  async of({
    auth,
    params,
    alongside,
  }: Pick<Call<'session', unknown, unknown>, 'auth' | 'params' | 'alongside'>) {
    const asked = this.#ask(params.id);
    const isSame =
      alongside instanceof Asked && alongside.reads === this.#reads && alongside.name === asked.name;
    return (isSame ? (alongside as typeof asked) : asked).of(auth.user.id);
  }

  #ask(id: string | undefined) {
    // A malformed id is looked up too, so that the work is the same.
    return new Asked(this.#reads, 'id', isUuid(id) ? id : NOBODY);
  }
}

/** An organization, and the membership of a user in it. */
interface Found<O, M> {
  readonly organization: O;
  readonly membership: M;
}

/** Reads organizations together with the membership of a user. They have the aliases `o` and `m`. */
class MembershipReads<O, M extends { readonly role: string }> {
  readonly joins: Readonly<Record<Key, NamedJoin>>;

  constructor(
    private readonly database: Database,
    private readonly organization: Selection<O>,
    private readonly membership: Selection<M>,
  ) {
    this.joins = { id: this.#joinBy('id'), slug: this.#joinBy('slug') };
  }

  /** Reads what {@link joins} have selected. @throws AuthError `organization_not_found` */
  read(raw: object): Found<O, M> {
    const membership = this.membership.read(raw);
    // Without a membership, the columns are null.
    if ((membership.role as string | null) === null) throw new AuthError('organization_not_found');
    return { organization: this.organization.read(raw), membership };
  }

  /** Selects the membership of a user in a statement of its own. @throws AuthError `organization_not_found` */
  async select(key: Key, name: string, userId: string): Promise<Found<O, M>> {
    const [raw] = await this.database.select<object>(
      `SELECT ${this.organization.columns}, ${this.membership.columns}
       FROM ${this.membership.from} JOIN ${this.organization.from} ON o.id = m.organization_id
       WHERE m.user_id = :userId AND o.${key} = :name`,
      { userId, name },
    );
    if (!raw) throw new AuthError('organization_not_found');
    return this.read(raw);
  }

  #joinBy(key: Key): NamedJoin {
    const { from: organizations } = this.organization;
    const { from: members } = this.membership;
    return {
      selected: [...this.organization.selected, ...this.membership.selected],
      nameType: key === 'id' ? 'uuid' : 'text',
      sql: (name) =>
        `LEFT JOIN ${organizations} ON o.${key} = ${name} LEFT JOIN ${members} ON m.organization_id = o.id AND m.user_id = u.id`,
    };
  }
}

/** A question for the membership in the organization that a request names. */
class Asked<O, M extends { readonly role: string }> implements Alongside {
  readonly join: NamedJoin;
  #userId: string | undefined;
  #raw: object | undefined;

  constructor(
    readonly reads: MembershipReads<O, M>,
    private readonly key: Key,
    readonly name: string,
  ) {
    this.join = reads.joins[key];
  }

  receive(userId: string, raw: object): void {
    this.#userId = userId;
    this.#raw = raw;
  }

  of(userId: string): Found<O, M> | Promise<Found<O, M>> {
    return this.#raw && this.#userId === userId
      ? this.reads.read(this.#raw)
      : this.reads.select(this.key, this.name, userId);
  }
}
