import { randomBytes } from 'node:crypto';
import { type AnyAuth, type Auth, internalsOf } from '../auth.js';
import { howToNameAdministrators } from '../core/contribution.js';
import { BY_CODE, type Core } from '../core/core.js';
import { digestToken } from '../crypto/token.js';
import { AuthError } from '../errors.js';
import { requireKnownKeys } from '../known-keys.js';
import { sessions } from '../tables/core.js';
import type { ImportRow, RowReader } from '../users/imported.js';
import { refuseInProduction, type Testing } from './test-auth.js';

/** The parts of an Auth that sign users in, with any fields. */
type AnyTestAuth = AnyAuth & {
  readonly testing: Testing;
  readonly users: { create(input: never): Promise<unknown> };
  createSession(
    userId: string,
  ): Promise<{ readonly user: object; readonly session: object; readonly token: string }>;
};

type FieldsFor<A extends AnyTestAuth> = Parameters<A['users']['create']>[0] extends { fields?: infer Values }
  ? Values
  : never;

/** The calls of the plugin `organizations()` that this file uses. */
interface Organizations {
  get(idOrSlug: string): Promise<Organization | null>;
  create(input: NewOrganization): Promise<Organization>;
  addMember(organizationId: string, userId: string, role: string): Promise<unknown>;
  setRole(organizationId: string, userId: string, role: string): Promise<unknown>;
}

interface NewOrganization {
  readonly name: string;
  readonly slug: string;
  readonly ownerId: string;
}

interface Organization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly createdAt: Date;
}

type HasOrganizations<A> = A extends { readonly organizations: object } ? true : false;

/** The organization that {@link signedIn} makes a user a member of. */
export interface OrganizationForTest {
  /** The id of an existing organization. @default none */
  readonly id?: string | undefined;
  /** The slug. If no organization has it, one is created. @default a new slug */
  readonly slug?: string | undefined;
  /** The name of a new organization. @default its slug */
  readonly name?: string | undefined;
  /**
   * The role of the user, who can be a member already. Another user owns a new organization unless it is `owner`.
   * @default `owner`, or the role that the user has
   */
  readonly role?: string | undefined;
}

/** Options of {@link signedIn}. */
export interface SignedInOptions<
  Fields = Readonly<Record<string, unknown>>,
  WithOrganizations extends boolean = boolean,
> {
  /** The user's email, which counts as verified. If an account has it, its user is signed in. @default a new email */
  email?: string | undefined;
  /** The values of the app's fields, if the account is new. @default their defaults */
  fields?: Fields | undefined;
  /**
   * Whether the user is an administrator. Requires the plugin `admin()`, whose lists do not have to include the user.
   * @default false
   */
  admin?: boolean | undefined;
  /** The assurance level of the session. It is 2 after a sign-in with a second factor or a passkey. @default 1 */
  aal?: 1 | 2 | undefined;
  /** Whether the session is fresh, as if the user had signed in just now. With `false`, it is not. @default true */
  fresh?: boolean | undefined;
  /**
   * Whether the account gets a second factor, which replaces an existing one. Requires the plugin `twoFactor()`.
   * @default false
   */
  secondFactor?: boolean | undefined;
  /** The names of the user's roles, which replace others. Requires the plugin `roles()`. @default those of the account */
  roles?: readonly string[] | undefined;
  /**
   * The organization that the user becomes a member of: `{}` for a new one that the user owns. Requires the plugin
   * `organizations()`.
   * @default none
   */
  organization?: (true extends WithOrganizations ? OrganizationForTest : undefined) | undefined;
  /**
   * The names of the user's open tasks, in this order. From then on, the `open` functions of the tasks are ignored for
   * this user.
   * @default the tasks whose `open` returns true
   */
  tasks?: readonly string[] | undefined;
}

/** The second factor of a user. */
export interface SecondFactorForTest {
  /** The secret of the authenticator app, in base32: its codes have 6 digits, and change every 30 seconds. */
  readonly secret: string;
  /** Two recovery codes. */
  readonly recoveryCodes: readonly string[];
}

/** A user who is signed in. */
export type SignedInForTest<A extends AnyTestAuth = Auth & { readonly testing: Testing }> = Pick<
  Awaited<ReturnType<A['createSession']>>,
  'user' | 'session' | 'token'
> & {
  /** The session's cookie, as `name=value`. */
  readonly cookie: string;
  /** The headers of requests, as in `request(app).get('/hello').set(headers)`. */
  readonly headers: { readonly cookie: string };
  /** The second factor that the account got. Null without `secondFactor`. */
  readonly secondFactor: SecondFactorForTest | null;
  /** The organization that the user is a member of. Null without `organization`. */
  readonly organization: true extends HasOrganizations<A> ? Organization | null : null;
};

/**
 * Creates or finds a user of a {@link testAuth}, and signs them in without a password.
 *
 * @example
 * const { headers, user } = await signedIn(auth, { fields: { plan: 'pro' }, admin: true });
 * await request(app).get('/ops').set(headers).expect(200);
 *
 * @throws AuthError if the user cannot be created, such as `validation_failed` for a missing field, or cannot sign in
 * @throws AuthError `validation_failed` for unknown roles, and the errors of `auth.organizations` for `organization`
 * @throws TypeError for an Auth that is not from `testAuth`, for `admin`, `roles`, `organization` and `secondFactor` without
 *   the plugin, and for unknown options and tasks
 */
export async function signedIn<A extends AnyTestAuth>(
  auth: A,
  options: SignedInOptions<FieldsFor<A>, HasOrganizations<A>> = {},
): Promise<SignedInForTest<A>> {
  refuseInProduction();
  requireKnownKeys('signedIn', options, OPTIONS);
  const { email, fields, admin = false, aal = 1, fresh = true, secondFactor = false, roles, tasks } = options;
  const given: OrganizationForTest | undefined = options.organization;
  if (!auth.testing) throw new TypeError('latchkey: signedIn: pass the result of testAuth');
  const { core } = internalsOf(auth);
  if (admin && !core.hasAdministrators)
    throw new TypeError(
      `latchkey: signedIn: admin: true requires administrators: ${howToNameAdministrators().join()}`,
    );
  checkTasks(core, tasks);
  const { users } = auth as unknown as Auth;
  const found = email === undefined ? null : await users.find({ email });
  const address = email ?? `user-${auth.testing.count()}@example.com`;
  const user =
    found ?? (await users.create({ email: address, emailVerified: true, fields: fields as never }));
  if (admin) auth.testing.administrators.add(user.id);
  if (tasks) auth.testing.tasks.set(user.id, tasks);
  if (roles) await giveRoles(core, user.id, roles);
  const createUser = async () => {
    const email = `user-${auth.testing.count()}@example.com`;
    return (await users.create({ email, emailVerified: true, fields: fields as never })).id;
  };
  const organization = given ? await joinOrganization(auth, user.id, given, createUser) : null;
  const factor = secondFactor ? await giveSecondFactor(core, user.id) : null;
  const { token } = await auth.createSession(user.id);
  const columns = {
    aal,
    ...(aal === 2 && { amr: ['pwd', 'otp', 'mfa'] }),
    authenticatedAt: fresh ? core.database.clock.date() : LONG_AGO,
  };
  await core.table(sessions).update(columns, { tokenHash: digestToken(token) });
  const issued = await core.sessions.find(token);
  const cookie = `${core.settings.cookie.name}=${token}`;
  return {
    user: issued?.user,
    session: issued && core.tasks.of(issued.user, issued.session),
    token,
    cookie,
    headers: { cookie },
    secondFactor: factor,
    organization,
  } as unknown as SignedInForTest<A>;
}

const OPTIONS = [
  ...['email', 'fields', 'admin', 'aal', 'fresh', 'secondFactor', 'roles', 'organization', 'tasks'],
];
const LONG_AGO = new Date(0);
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** @throws TypeError if one of the tasks does not exist */
function checkTasks({ tasks: { names } }: Core, tasks: readonly string[] = []): void {
  const unknown = tasks.find((task) => !names.includes(task));
  if (unknown === undefined) return;
  throw new TypeError(
    `latchkey: signedIn: ${unknown} is not a task: the tasks are ${names.join(', ') || 'none'}`,
  );
}

/** Replaces the roles of a user. @throws TypeError without the plugin, AuthError for unknown roles */
async function giveRoles(core: Core, userId: string, roles: readonly string[]): Promise<void> {
  const part = readerOf(core, 'roles', 'roles: […] requires roles() in the plugins');
  await replaceByRow(core, userId, part, { roles });
}

/**
 * Makes a user a member of an organization, which is created if it does not exist.
 *
 * @param createUser creates the owner of a new organization that the user does not own. Returns the id
 * @throws TypeError without the plugin, and for an unknown id; the plugin's errors
 */
async function joinOrganization(
  auth: AnyTestAuth,
  userId: string,
  given: OrganizationForTest,
  createUser: () => Promise<string>,
): Promise<Organization> {
  const { organizations } = auth as unknown as { readonly organizations?: Organizations };
  if (!organizations)
    throw new TypeError('latchkey: signedIn: organization: { … } requires organizations() in the plugins');
  requireKnownKeys('signedIn', given, ['id', 'slug', 'name', 'role']);
  const { id, slug = `organization-${auth.testing.count()}`, name = slug, role } = given;
  const found = await organizations.get(id ?? slug);
  if (found) {
    await join(organizations, found.id, userId, role);
    return found;
  }
  if (id !== undefined)
    throw new TypeError(`latchkey: signedIn: there is no organization with the id '${id}': create it first`);
  const isOwner = role === undefined || role === OWNER;
  const ownerId = isOwner ? userId : await createUser();
  const created = await organizations.create({ name, slug, ownerId });
  if (!isOwner) await organizations.addMember(created.id, userId, role);
  return created;
}

const OWNER = 'owner';
/** The code of a problem of the plugin: a string, because an app without the plugin does not declare it. */
const ALREADY_MEMBER: string = 'already_member';

async function join(
  organizations: Organizations,
  organizationId: string,
  userId: string,
  role: string | undefined,
): Promise<void> {
  try {
    await organizations.addMember(organizationId, userId, role ?? OWNER);
  } catch (error) {
    if (!(error instanceof AuthError) || error.code !== ALREADY_MEMBER) throw error;
    if (role !== undefined) await organizations.setRole(organizationId, userId, role);
  }
}

/** Replaces the second factor of a user. @throws TypeError without the plugin */
async function giveSecondFactor(core: Core, userId: string): Promise<SecondFactorForTest> {
  const part = readerOf(core, 'totpSecret', 'secondFactor: true requires twoFactor() in the plugins');
  const letters = (length: number) =>
    Array.from(randomBytes(length), (byte) => BASE32[byte % BASE32.length]).join('');
  const factor = { secret: letters(32), recoveryCodes: [letters(16), letters(16)] };
  await replaceByRow(core, userId, part, { totpSecret: factor.secret, recoveryCodes: factor.recoveryCodes });
  return factor;
}

/** Returns the part of an import that reads a key. @throws TypeError if no plugin does */
function readerOf({ contributions }: Core, key: string, otherwise: string): RowReader {
  // A plugin declares the key, so without it the types do not know the key.
  const part = contributions
    .flatMap(({ rowReaders = [] }) => rowReaders)
    .find(({ keys }) => (keys as readonly string[]).includes(key));
  if (!part) throw new TypeError(`latchkey: signedIn: ${otherwise}`);
  return part;
}

/** Replaces a part of an account, as an import does. @param row the keys of a row, which plugins declare */
async function replaceByRow(core: Core, userId: string, part: RowReader, row: object): Promise<void> {
  const value = await part.read(row as ImportRow, (why) => {
    throw why;
  });
  await core.change(userId, BY_CODE, (record, transaction) => part.replace(record, value, transaction));
}
