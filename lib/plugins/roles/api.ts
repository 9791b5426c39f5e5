import type { Transaction } from 'sequelize';
import type { UserPermissions } from '../../core/account-features.js';
import { BY_CODE, type Core } from '../../core/core.js';
import { AuthError, type GivenFieldError, invalidField } from '../../errors.js';
import { endingWithObject } from '../../known-keys.js';
import { covers, MAX_ROLES } from '../../permissions.js';
import { say } from '../../phrases.js';
import type { TransactionOption } from '../../sessions/request.js';
import type { User } from '../../tables/core.js';
import { declareRowKeys, type RowReader, type RowValues } from '../../users/imported.js';
import type { UserForAdmins, UserRecord } from '../../users/record.js';
import { OTHERS_NOTICE, type RolesOfUser, type rolesColumns, rolesNotices } from './declarations.js';

declare module '../../users/imported.js' {
  interface ImportRow {
    /** The names of the user's roles, which `roles()` must have. @default [] */
    roles?: readonly string[] | null | undefined;
  }
}

declareRowKeys(['roles'], 'add roles() to plugins');

/** Reads the roles of users from the rows of an import. */
export function rolesOfRows(core: Core, permissions: UserPermissions): RowReader<RolesOfUser> {
  const valuesOf = ({ roles }: RolesOfUser): RowValues =>
    roles.length > 0 ? { roles: roles.join(' ') } : {};
  return {
    keys: ['roles'],
    async read({ roles }) {
      const checked = checkRoles(permissions, roles, []);
      return checked.length > 0 ? { roles: checked } : null;
    },
    columnsOf: (value) => ({ ...value }),
    valuesOf,
    valuesNow: async ({ user }) => valuesOf({ roles: rolesOf(user) }),
    async replace(record, value, transaction) {
      await storeRoles(core, record, value?.roles ?? [], null, transaction);
      // The rights of the administrator or the user have changed.
      await core.sessions.endActing([record.user.id], transaction);
    },
  };
}

/** Options of `auth.roles.set`. */
export interface SetRolesOptions extends TransactionOption {
  /** The id of the administrator who sets the roles, for the event. @default null: the app itself */
  adminId?: string | null;
}

/** A user with roles. */
export interface UserWithRoles extends User, RolesOfUser {}

/** `auth.roles`: the roles of users. */
export class RolesApi {
  readonly #core: Core;
  readonly #permissions: UserPermissions;

  /** @internal */
  constructor(core: Core, permissions: UserPermissions) {
    this.#core = core;
    this.#permissions = permissions;
    endingWithObject('auth.roles', this);
  }

  /**
   * Returns the roles that are stored with a user, sorted. The default role is not among them, and some might no longer be
   * configured.
   *
   * @throws AuthError `user_not_found`
   */
  of(userId: string, options: TransactionOption = {}): Promise<readonly string[]> {
    return this.#core.call('auth.roles.of', options, [], async () => {
      const user = await this.#core.users.find(userId);
      if (!user) throw new AuthError('user_not_found');
      return rolesOf(user);
    });
  }

  /**
   * Sets the roles of a user, and returns the user. The default role and repeated names are ignored. The change applies
   * from the user's next request on, in every process. It checks only that the roles are configured, or are roles of the
   * user already. If the user becomes an administrator, the user and the `adminEmails` of `admin()` get a notice.
   *
   * @throws AuthError `user_not_found` (404), `validation_failed` (422) for an unknown role and for more than 16 roles
   */
  set(userId: string, roles: readonly string[], options: SetRolesOptions = {}): Promise<UserWithRoles> {
    return this.#core.call('auth.roles.set', options, ['adminId'], () =>
      this.change(userId, () => roles, options.adminId),
    );
  }

  /**
   * Like {@link set}, for roles that depend on the roles before.
   *
   * @internal
   */
  change(
    userId: string,
    rolesAfter: (before: readonly string[]) => readonly string[],
    adminId: string | null = null,
  ): Promise<UserWithRoles> {
    return this.#core.change(userId, BY_CODE, (record, transaction) => {
      const before = rolesOf(record.user);
      return this.#write(
        record,
        checkRoles(this.#permissions, rolesAfter(before), before),
        adminId,
        transaction,
      );
    });
  }

  /**
   * Sets the roles of a user for an administrator, who can give and take only roles that the administrator's own permissions
   * cover.
   *
   * @internal
   * @throws AuthError `user_not_found`, `own_account`, `email_unproven`, `permission_required`, `validation_failed`
   */
  setByAdministrator(userId: string, roles: readonly string[], adminId: string): Promise<UserWithRoles> {
    const { users } = this.#core;
    return this.#core.change(userId, BY_CODE, async (record, transaction) => {
      if (userId === adminId) throw new AuthError('own_account');
      const before = rolesOf(record.user);
      const named = namesIn(roles, this.#permissions);
      const added = named.filter((role) => !before.includes(role));
      const { user, emailProof } = record;
      if (added.length > 0 && user.email !== null && !emailProof.reaches('app'))
        throw new AuthError('email_unproven', { detail: say('role-for-unproven-email') });
      // The route has locked the administrator's row before, so these are the permissions that count.
      const admin = await users.lock(adminId, transaction);
      const taken = before.filter((role) => !named.includes(role));
      const changed = this.#permissions.roles.permissionsOf([...added, ...taken]);
      if (!admin || !covers(this.#core.permissionsOf(admin.user), changed))
        throw new AuthError('permission_required');
      return this.#write(record, checkRoles(this.#permissions, roles, before), adminId, transaction);
    });
  }

  async #write(
    record: UserRecord,
    after: readonly string[],
    adminId: string | null,
    transaction: Transaction,
  ): Promise<UserWithRoles> {
    const { users } = this.#core;
    const { id: userId } = record.user;
    if (await storeRoles(this.#core, record, after, adminId, transaction))
      await users.announceChange(userId, ['roles'], transaction);
    return (await users.find(userId, transaction)) as UserForAdmins & RolesOfUser;
  }
}

/** Stores the roles of a user, and tells of the change. @returns whether they have changed */
async function storeRoles(
  core: Core,
  record: UserRecord,
  after: readonly string[],
  adminId: string | null,
  transaction: Transaction,
): Promise<boolean> {
  const { id: userId } = record.user;
  const before = rolesOf(record.user);
  if (before.join() === after.join()) return false;
  await core.users.setColumns<typeof rolesColumns>(userId, { roles: after }, transaction);
  core.events.emit('user.roles_changed', { userId, adminId, before, after }, transaction);
  await tellOfAdministrator(core, record, after, transaction);
  return true;
}

/** Sends notices if a user becomes an administrator. */
async function tellOfAdministrator(
  core: Core,
  { user }: UserRecord,
  roles: readonly string[],
  transaction: Transaction,
): Promise<void> {
  if (core.isAdministrator(user) || !core.isAdministrator({ ...user, roles } as User)) return;
  await core.notices.plain(rolesNotices['administrator-added'], user, transaction, { byApp: true });
  for (const toOther of core.emailsOfAdministrators)
    await core.notices.plain(OTHERS_NOTICE, user, transaction, { byApp: true, toOther, subject: user.id });
}

/** Returns the roles that are stored with a user. */
export function rolesOf(user: User): readonly string[] {
  return (user as Partial<RolesOfUser>).roles ?? [];
}

/** Returns the names without repetitions and the default role, sorted. */
function namesIn(roles: readonly string[], { defaultRole }: UserPermissions): readonly string[] {
  return [...new Set(roles)].filter((role) => role !== defaultRole).sort();
}

/**
 * Checks the roles of a user.
 *
 * @param before the user's current roles, which are accepted even if they are no longer configured
 * @returns the roles to store
 * @throws AuthError `validation_failed`
 */
function checkRoles(
  permissions: UserPermissions,
  given: unknown,
  before: readonly string[],
): readonly string[] {
  if (!Array.isArray(given)) throw invalidField('/roles', 'wrong_type', say('not-roles'));
  const { roles } = permissions;
  const detail = say('not-one-of', { values: roles.names });
  const errors = given.flatMap((role, index): GivenFieldError[] =>
    (typeof role === 'string' && roles.has(role)) || before.includes(role)
      ? []
      : [{ pointer: `/roles/${index}`, code: 'unknown_role', detail }],
  );
  if (errors.length > 0) throw new AuthError('validation_failed', { errors });
  const names = namesIn(given, permissions);
  if (names.length > MAX_ROLES)
    throw invalidField('/roles', 'too_many_roles', say('too-many-roles', { maximum: MAX_ROLES }));
  return names;
}
