import { type AnyAuth, type Auth, internalsOf } from '../auth.js';
import { howToNameAdministrators } from '../core/contribution.js';
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

/** Options of {@link signedIn}. */
export interface SignedInOptions<Fields = Readonly<Record<string, unknown>>> {
  /** The user's email, which counts as verified. If an account has it, its user is signed in. @default a new one */
  email?: string | undefined;
  /** The values of the app's fields, if the account is new. @default their defaults */
  fields?: Fields | undefined;
  /**
   * Whether the user is an administrator. Requires the plugin `admin()`, whose lists do not have to include the user.
   * @default false
   */
  admin?: boolean | undefined;
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
};

/**
 * Creates a user of a {@link testAuth}, or finds one, and signs them in without a password.
 *
 * @example
 * const { headers, user } = await signedIn(auth, { fields: { plan: 'pro' }, admin: true });
 * await request(app).get('/ops').set(headers).expect(200);
 *
 * @throws AuthError if the user cannot be created, such as `validation_failed` for a missing field, or cannot sign in
 * @throws TypeError for an Auth that is not from `testAuth`, and for `admin` without the plugin
 */
export async function signedIn<A extends AnyTestAuth>(
  auth: A,
  { email, fields, admin = false }: SignedInOptions<FieldsFor<A>> = {},
): Promise<SignedInForTest<A>> {
  refuseInProduction();
  if (!auth.testing) throw new TypeError('latchkey: signedIn: pass what testAuth returned');
  const { core } = internalsOf(auth);
  if (admin && !core.hasAdministrators)
    throw new TypeError(
      `latchkey: signedIn: admin: true requires administrators: ${howToNameAdministrators().join()}`,
    );
  const { users } = auth as unknown as Auth;
  const found = email === undefined ? null : await users.find({ email });
  const address = email ?? `user-${auth.testing.count()}@example.com`;
  const user =
    found ?? (await users.create({ email: address, emailVerified: true, fields: fields as never }));
  if (admin) auth.testing.administrators.add(user.id);
  const issued = await auth.createSession(user.id);
  const cookie = `${core.settings.cookie.name}=${issued.token}`;
  return {
    user: issued.user,
    session: issued.session,
    token: issued.token,
    cookie,
    headers: { cookie },
  };
}
