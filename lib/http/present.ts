import * as z from 'zod';
import { exportedColumns, exportedTables } from '../accounts/export.js';
import type { Core } from '../core/core.js';
import type { AuthErrorCode } from '../errors.js';
import { isActing } from '../sessions/acting.js';
import type { EnrolledSecondFactor } from '../sessions/second-factor.js';
import { isPending, type SignedIn } from '../sessions/signed-in.js';
import { type Column, type Columns, snakeCase, toJson } from '../tables/column.js';
import { type Session, sessions, type User } from '../tables/core.js';
import type { UserRecord } from '../users/record.js';
import { type Answer, id, named, type Reply, time } from './route.js';

interface Resources {
  readonly user: Resource<User>;
  /** A user as administrators see them. */
  readonly userForAdmins: Resource<User>;
  readonly session: Resource<Session>;
  /** A session as administrators see it. */
  readonly sessionForAdmins: Resource<Session>;
  readonly listedSession: {
    /** @internal */
    readonly schema: z.ZodObject;
    /** @param own the id of the request's session */
    present(row: Session, own: string): Record<string, unknown>;
  };
}

const known = new WeakMap<Core, Resources>();

/** Returns the JSON representations of users and sessions, including the attributes that plugins add. */
export function resources(core: Core): Resources {
  const made = known.get(core) ?? makeResources(core);
  known.set(core, made);
  return made;
}

function makeResources(core: Core): Resources {
  const { users, shownOfUser } = core;
  const session = withTasks(
    core,
    withActing(core, resourceOf<Session>(...SESSION, sessions.columns, core.shownOfSession)),
  );
  return {
    user: resourceOf<User>('User', "A user, with the app's own fields", users.columns, shownOfUser),
    userForAdmins: resourceOf<User>(
      'UserForAdmins',
      'A user as administrators see them, with the fields that only they see',
      users.columns,
      [...shownOfUser, ...columnsForAdmins(core)],
    ),
    session,
    sessionForAdmins: core.sessions.canAct ? withActor(session) : session,
    listedSession: listed(session),
  };
}

function listed(session: Resource<Session>): Resources['listedSession'] {
  const current = z.boolean().describe('Whether the request presented this session');
  return {
    schema: named('ListedSession', 'A session in a list', session.schema.extend({ current })),
    present: (row, own) => ({ ...session.present(row), current: row.id === own }),
  };
}

const SESSION = ['Session', 'A session of a user, without its token. Times are in ISO 8601'] as const;

/** Marks acting sessions, if there can be any. */
function withActing({ sessions: { canAct } }: Core, session: Resource<Session>): Resource<Session> {
  if (!canAct) return session;
  const acting = z
    .literal(true)
    .optional()
    .describe('Set if an administrator acts as the user in this session');
  return {
    schema: named(...SESSION, session.schema.extend({ acting })),
    present: (row) => ({ ...session.present(row), ...(isActing(row) && { acting: true }) }),
  };
}

/** Adds the administrator to acting sessions. */
function withActor(session: Resource<Session>): Resource<Session> {
  const actor_id = id.optional().describe('The administrator who acts as the user in this session');
  return {
    schema: named(
      'SessionForAdmins',
      'A session as administrators see it, with the administrator who acts as the user in it',
      session.schema.extend({ actor_id }),
    ),
    present: (row) => ({ ...session.present(row), ...(row.actorId && { actor_id: row.actorId }) }),
  };
}

/** Adds the names of open tasks to sessions, if there are any tasks. */
function withTasks({ tasks }: Core, session: Resource<Session>): Resource<Session> {
  if (!tasks.isOn) return session;
  const described = 'The tasks that the user must complete before the session can be used, in this order';
  const names = z.array(z.string()).describe(described);
  const { areListed } = tasks;
  return {
    schema: named(...SESSION, session.schema.extend({ tasks: areListed ? names : names.optional() })),
    present({ tasks: open = [], ...row }) {
      const presented = session.present(row);
      return areListed || open.length > 0 ? { ...presented, tasks: open } : presented;
    },
  };
}

function columnsForAdmins({ users }: Core): readonly string[] {
  return Object.entries(users.columns).flatMap(([name, { visibility }]) =>
    visibility === 'admin' ? name : [],
  );
}

/** The sign-in methods of all plugins. */
export interface SignInMethodsOf {
  readonly schema: z.ZodObject;
  /** Returns the sign-in methods of a user. */
  of(record: UserRecord): Promise<Readonly<Record<string, unknown>>>;
}

/** Combines the sign-in methods of the plugins. */
export function signInMethodsOf({ contributions }: Core): SignInMethodsOf {
  const parts = contributions.flatMap(({ signInMethods }) => signInMethods ?? []);
  return {
    schema: named(
      'SignInMethods',
      'The sign-in methods of a user. The plugins decide which ones there are',
      z.object(Object.assign({}, ...parts.map(({ schema }) => schema))),
    ),
    of: async (record) => Object.assign({}, ...(await Promise.all(parts.map((part) => part.of(record))))),
  };
}

const pendingSignIn = named(
  'PendingSignIn',
  'A sign-in that waits for a further step',
  z.object({
    second_factor: z.object({
      methods: z
        .array(z.string())
        .describe('The methods that can complete the sign-in: totp, recovery_code, passkey, email_code'),
      expires_at: z.iso.datetime(),
      pending_token: z.string().optional().describe('For clients without cookies'),
    }),
  }),
);

/** The problems of a change that requires the second factor if the account has one. */
export function secondFactorProblems({ secondFactors }: Core): readonly AuthErrorCode[] {
  return secondFactors.arePossible ? ['second_factor_required', 'reauthentication_required'] : [];
}

/** The documented response of a sign-in: a session or, if a plugin adds second factors, a pending sign-in. */
export function signInAnswer(core: Core, description: string, more: z.ZodRawShape = {}): Answer {
  const { schema, ...answer } = sessionAnswer(core, description, more);
  if (!schema || !core.completion.canWait) return sessionAnswer(core, description, more);
  return { ...answer, schema: z.union([schema, pendingSignIn]), mayWait: true };
}

/** The documented part of the response to a sign-in that can remove the password. */
export function removedShape({ emailedSignIns }: Core): z.ZodRawShape {
  if (!emailedSignIns) return {};
  const described = 'Set if the sign-in has removed the password, because someone else could have chosen it';
  return { password_removed: z.literal(true).optional().describe(described) };
}

/** The documented response of a route that issues a session. @param more other parts of the response */
export function sessionAnswer(core: Core, description: string, more: z.ZodRawShape = {}): Answer {
  const { user, session } = resources(core);
  const shape = { user: user.schema, session: session.schema, ...deviceShape(core), ...more };
  return { description, schema: z.object(shape) };
}

/** The documented part of a response that contains a device value. */
export function deviceShape(core: Core): z.ZodRawShape {
  if (!core.settings.bearerEnabled) return {};
  const described = 'For a request with the header Latchkey-Device: its next value';
  return { device_token: z.string().optional().describe(described) };
}

/** Returns the device value for a request that names its device in a header. Other requests get a cookie. */
export function deviceInBody(core: Core, device: string | null): { readonly device_token?: string } {
  return core.namesDevice && device !== null ? { device_token: device } : {};
}

/** Creates the reply that issues a session or requires a second factor: see {@link signInAnswer}. */
export function sessionReply(core: Core, issued: SignedIn, status = 200): Reply {
  if (isPending(issued)) {
    const { methods, expiresAt, pendingToken } = issued.secondFactor;
    const token = core.settings.bearerEnabled ? { pending_token: pendingToken } : {};
    const body = { second_factor: { methods, expires_at: expiresAt.toISOString(), ...token } };
    return { status: 200, body, issue: issued };
  }
  const { user, session } = resources(core);
  const body = {
    user: user.present(issued.user),
    session: session.present(core.tasks.of(issued.user, issued.session)),
    ...deviceInBody(core, issued.device),
    ...(issued.passwordRemoved && { password_removed: true }),
  };
  return { status, body, issue: issued };
}

/** Recovery codes in a response. */
export const recoveryCodes = z.array(z.string()).describe('Ten codes, each of which can be used once');

/** The documented response to a user who has enabled a second factor. */
export function enrolledShape(core: Core) {
  const { user, session } = resources(core);
  const described = 'Only if the account had no recovery codes left. They cannot be retrieved later';
  return {
    recovery_codes: recoveryCodes.optional().describe(described),
    user: user.schema,
    session: session.schema,
  };
}

/** Creates the reply to a user who has enabled a second factor. @param more other parts of the body */
export function enrolledReply(
  core: Core,
  { issued, recoveryCodes: codes }: EnrolledSecondFactor,
  more: object = {},
  status = 200,
): Reply {
  const { body, ...reply } = sessionReply(core, issued, status);
  return { ...reply, body: { ...more, ...(codes && { recovery_codes: codes }), ...(body as object) } };
}

/** The JSON representation of a table's rows. Clients see rows only in this form. */
export interface Resource<Row> {
  /** @internal */
  readonly schema: z.ZodObject;
  present(row: Row): Record<string, unknown>;
}

/** Describes a user's data: see `exportUser`. */
export function exportSchema(core: Core): z.ZodObject {
  const lists = exportedTables(core).map(
    ({ declaration, rows }) =>
      [rows.as, z.array(schemaOfColumns(exportedColumns(declaration.columns)))] as const,
  );
  const described = "The app's own data";
  return named(
    'AccountExport',
    'Everything that is stored about a user, by table',
    z.object({
      exported_at: time,
      user: schemaOfColumns(exportedOfUser(core)),
      ...Object.fromEntries(lists),
      ...(core.settings.hooks.exportUser && { app: z.unknown().describe(described) }),
    }),
  );
}

function exportedOfUser(core: Core): Columns {
  const columns = exportedColumns(core.users.columns);
  if (core.shownOfUser.includes('username')) return columns;
  // Leave out the usernames if the app does not use them.
  const { username: _, usernameDisplay: __, ...others } = columns;
  return others;
}

/**
 * Derives a resource from a table's columns. It contains the columns that clients can see, under their own names, in
 * declaration order.
 *
 * @param name the name of the schema: see {@link named}
 * @param also additional attributes
 */
export function resourceOf<Row extends object>(
  name: string,
  description: string,
  columns: Columns,
  also: readonly PropertyKey[] = [],
): Resource<Row> {
  const shown = Object.entries(columns)
    .filter(([attribute, { visibility }]) => visibility === 'client' || also.includes(attribute))
    .map(([attribute, column]) => ({ attribute, column, key: snakeCase(attribute) }));
  let schema: z.ZodObject | undefined;
  const present = (row: Row) =>
    Object.fromEntries(
      shown.map(({ attribute, key, column }) => {
        return [key, toJson((row as Record<string, unknown>)[attribute], column)];
      }),
    );
  return {
    // Created on first use, because no app has all routes.
    get schema() {
      const visible = Object.fromEntries(shown.map(({ attribute, column }) => [attribute, column]));
      schema ??= named(name, description, schemaOfColumns(visible));
      return schema;
    },
    present,
  };
}

function schemaOfColumns(columns: Columns): z.ZodObject {
  const keys = Object.entries(columns).map(([attribute, column]) => [snakeCase(attribute), schemaOf(column)]);
  return z.object(Object.fromEntries(keys));
}

function schemaOf({ kind, isNullable, meta, description }: Column): z.ZodType {
  const schema = meta ? typeOf(kind).meta(meta) : typeOf(kind);
  const nullable = isNullable ? schema.nullable() : schema;
  return description === undefined ? nullable : nullable.describe(description);
}

function typeOf(kind: Column['kind']): z.ZodType {
  switch (kind) {
    case 'uuid':
      return id;
    case 'time':
    case 'any-time':
      return time;
    case 'integer':
    case 'big-integer':
      return z.int();
    case 'number':
      return z.number();
    case 'boolean':
      return z.boolean();
    case 'words':
      return z.array(z.string());
    case 'json':
      return z.record(z.string(), z.unknown());
    case 'document':
      return z.unknown();
    default:
      return z.string();
  }
}
