import type { ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { PlainRequest } from '../context/call.js';
import type { AuthError, AuthErrorCode, GivenFieldError } from '../errors.js';
import type { Html } from '../html.js';
import type { HasUndo } from '../notices/changes.js';
import type { Permissions, Roles } from '../permissions.js';
import type { RemembersBrowsers } from '../sessions/devices.js';
import type { AsksForEmailCodes } from '../sessions/email-code-step.js';
import type { Alongside } from '../sessions/lookup.js';
import type { Authentication, Carrier, SessionAuthentication } from '../sessions/request.js';
import type { HasReauthentications, HasSteps } from '../sessions/second-factor.js';
import type { FollowsSessions } from '../sessions/sessions.js';
import type { IssuedSession } from '../sessions/signed-in.js';
import type { HasTasks } from '../sessions/tasks.js';
import type { Session, User } from '../tables/core.js';
import type { Invites } from '../users/create.js';
import type { FieldValues } from '../users/fields.js';
import type { ReadsRows } from '../users/imported.js';
import type { ChecksAccounts, HasWaysIn, NewUser, UserRecord } from '../users/record.js';
import type { FollowsAccounts } from '../users/users.js';
import type { WritesMails } from '../verification/delivery.js';
import type { HasAttached } from '../verification/email-proofs.js';
import type { HasTables } from '../waiting/tables.js';

/** A plugin's part of the list of a user's sign-in methods, as JSON. */
export interface SignInMethods {
  /** @internal */
  readonly schema: z.ZodRawShape;
  of(record: UserRecord): Promise<Readonly<Record<string, unknown>>>;
}

/** The data of a plugin that pages show and that no route returns. */
export interface ForPages {
  /** The providers that users can continue with, in the order in which the app lists them. */
  readonly providers?: readonly ShownProvider[];
  /** Returns the name of a provider that an account is linked to, even if it is no longer configured. */
  providerName?(id: string): string;
  /** The scopes that the API keys of the app can be limited to. Undefined if the app has not declared them. */
  readonly scopes?: readonly ShownScope[];
  /** What users enter to sign in, in addition to the password. */
  readonly identifier?: 'email' | 'username' | 'either';
  /**
   * Creates a section for the page about the account's security. Its forms are sent to routes of the plugin.
   *
   * @returns null if the plugin has nothing to show
   */
  card?(auth: SessionAuthentication): Promise<Card | null>;
  /** Returns the authenticator app that a session has set up but not confirmed yet. */
  unconfirmed?(user: User, sessionId: string): Promise<Unconfirmed | null>;
  /** What users can do with organizations. Undefined without organizations. */
  readonly organizations?: OrganizationsForPages;
}

/** What users can do with organizations. The routes decide again. */
export interface OrganizationsForPages {
  /** Whether a user can create an organization. */
  canCreate(user: User): boolean;
  /** Whether an invitation can create the account of its address, if there is a way to sign up. */
  createsAccounts(): boolean;
  /** The names of all roles of members. The first one allows most, and the last one least. */
  readonly roles: readonly string[];
  /** Returns what a member with a role can do. */
  rightsOf(role: string): MemberRights;
  /** Returns the role of a user in an organization. Null if the user is not a member. */
  roleOf(organizationId: string, user: User): Promise<string | null>;
  /** Returns the organizations with other members that would have no active owner without the user. */
  ownedAlone(user: User): Promise<readonly { readonly id: string; readonly name: string }[]>;
}

/** What a member of an organization can do. */
export interface MemberRights {
  /** Whether the member can change the name and the slug. */
  readonly renames: boolean;
  readonly deletes: boolean;
  readonly changesRoles: boolean;
  readonly removesMembers: boolean;
  readonly invites: boolean;
  /** Whether the member can give and take a role, with the right to do so. */
  covers(role: string): boolean;
}

/** A provider as pages show it. */
export interface ShownProvider {
  readonly id: string;
  readonly name: string;
  /** A path of this origin. Null if there is no icon. */
  readonly icon: string | null;
}

/** A scope of API keys as pages show it. */
export interface ShownScope {
  readonly name: string;
  /** The app's words for users. Null if there are none. */
  readonly description: string | null;
}

/** A section of a page. */
export interface Card {
  readonly title: string;
  readonly content: Html;
}

/** An authenticator app that the user has not confirmed yet. */
export interface Unconfirmed {
  /** The secret in base32. */
  readonly secret: string;
  readonly otpauthUrl: string;
  readonly qrSvg: string;
}

/** The requirements on an administrator's session for changes of other users' accounts. */
export interface Administration {
  /** The number of seconds within which the administrator must have signed in or reauthenticated. */
  readonly fresh: number;
  /** The required authenticator assurance level. For an administrator with a second factor, it is always 2. */
  readonly aal: 1 | 2;
}

/** The default: one hour, because administrators often make several changes in a row. */
export const ADMINISTRATION: Administration = { fresh: 3600, aal: 1 };

/** Who is an administrator. */
export interface Administrators {
  is(user: User): boolean;
  /** Whether the app's config names the user. Such an administrator has every permission. @default false */
  isNamed?(user: User): boolean;
  /** The role that makes users administrators, in addition to users whom the config names. @default none */
  readonly role?: string | undefined;
  /** The emails that get a notice when another user becomes an administrator. @default none */
  readonly emails?: readonly string[];
  /** The requirements on their sessions for changes. @default {@link ADMINISTRATION} */
  readonly requires?: Administration;
}

/** A plugin with which people sign up, for plugins that create the account in a transaction of their own. */
export interface SignsUp {
  /** The fields of a sign-up, except for the email. @internal */
  readonly shape: z.ZodRawShape;
  /** The problems of {@link prepare}, in addition to `validation_failed`. */
  readonly problems: readonly AuthErrorCode[];
  /** Returns the errors of fields by rules that the shape does not have. The values can have any type. */
  faultsOf(body: Readonly<Record<string, unknown>>): Promise<readonly GivenFieldError[]>;
  /** Checks a sign-up with an email that is proven otherwise, and does its expensive work. */
  prepare(
    email: string,
    body: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly person: NewUser; readonly fields: FieldValues }>;
}

/** The memberships of users in organizations, which the guard `requireMember` requires. */
export interface Memberships {
  /** What the roles of members allow. */
  readonly roles: Roles;
  /** The permissions that exist although no role might name them. */
  readonly permissions: Permissions;
  /** Asks for the membership in an organization. @param idOrSlug the name in the request. Anything can be passed */
  ask(idOrSlug: unknown): AskedMembership;
}

/** A question for a membership. The lookup of a credential can receive the answer: see {@link Alongside}. */
export interface AskedMembership extends Alongside {
  /**
   * Returns the membership of a user. Selects it if it was not received.
   *
   * @throws AuthError `organization_not_found` if the user is not a member of such an organization
   */
  of(userId: string): RequestMembership | Promise<RequestMembership>;
}

/** The organization that a request is about, and the membership of its user. */
export interface RequestMembership {
  /** The organization. */
  readonly organization: { readonly id: string; readonly name: string; readonly slug: string };
  /** The membership of the user in the organization. */
  readonly membership: { readonly role: string; readonly createdAt: Date };
}

/** An organization of another system, whose members have accounts here. */
export interface GivenOrganization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly createdAt: Date;
  readonly members: readonly { readonly userId: string; readonly role: string }[];
}

/** Creates organizations of another system. */
export interface ImportsOrganizations {
  /** Whether an organization still exists. */
  exists(id: string, transaction: Transaction): Promise<boolean>;
  /**
   * Creates an organization with its members. No notice is sent, and no event is emitted.
   *
   * @throws AuthError `validation_failed`, whose first error says why it cannot be created; the errors of the app's hook
   * @throws UniqueConstraintError (Sequelize) if another one got its slug in the meantime
   */
  create(given: GivenOrganization, transaction: Transaction): Promise<void>;
}

/** The pages of a plugin, for browsers. */
export interface Pages {
  /** Returns the URL of a page by its name. */
  url(name: string): string;
  /**
   * Responds with a page to a browser whose request a guard or the router has rejected.
   *
   * @returns whether it has responded. Otherwise, the response is a problem
   */
  answer(error: AuthError, req: Request, res: Response, from?: string | null): Promise<boolean>;
  /**
   * Called when a browser is redirected because of an error, so that the page can show it.
   *
   * @param email the email to fill in, which the browser's user has proven. Null if there is none
   */
  leaveError(code: AuthErrorCode, to: string, res: Response, email: string | null): void;
}

/** Who a request is from, as far as it is known. Null if it presents no credential; an error if that is invalid. */
export type Admission = Authentication | AuthError | null;

/**
 * The parts that a plugin contributes to the core: the interfaces that the core's modules declare, and others. The core
 * does not know plugins by name.
 */
export interface Contribution
  extends ChecksAccounts,
    ReadsRows,
    FollowsSessions,
    FollowsAccounts,
    Invites,
    WritesMails,
    HasUndo,
    HasSteps,
    HasReauthentications,
    AsksForEmailCodes,
    RemembersBrowsers,
    HasAttached,
    HasWaysIn,
    HasTasks,
    HasTables {
  readonly carriers?: readonly Carrier[];
  /**
   * Called after the carriers have read the credentials of a request, which the plugin can authenticate in another way,
   * or reject.
   *
   * @param res undefined if no response can be changed, as in `auth.getSession`
   * @returns `found`, or what the request continues with instead
   */
  afterCarriers?(found: Admission, req: PlainRequest, res: ServerResponse | undefined): Promise<Admission>;
  /**
   * Called after a client has signed in or out, before the response is sent.
   *
   * @param session the client's new session. Null if the client has signed out
   * @returns whether this has ended another session of the client
   */
  afterSignInOrOut?(session: IssuedSession | null, req: PlainRequest, res: ServerResponse): Promise<boolean>;
  /** Additional attributes of users and sessions that clients can see. */
  readonly shows?: { readonly user?: readonly (keyof User)[]; readonly session?: readonly (keyof Session)[] };
  /** The plugin's part of the response of GET /sign-in-methods. */
  readonly signInMethods?: SignInMethods;
  /** The plugin's pages. At most one plugin has pages. */
  readonly pages?: Pages;
  /** The plugin's data for pages. */
  readonly forPages?: ForPages;
  /** How people sign up, if they can with the email of an invitation. At most one plugin has it. */
  readonly signsUp?: SignsUp;
  /** The plugin's memberships. At most one plugin has them. */
  readonly memberships?: Memberships;
  /** How organizations of another system are created. At most one plugin has them. */
  readonly importsOrganizations?: ImportsOrganizations;
  /** The plugin's administrators. Several plugins can have some. */
  readonly administrators?: Administrators;
  /**
   * Deletes or anonymizes the data of a user who is being deleted. The user's row is locked. The transaction might only be
   * a trial, so anything outside the database must wait for the commit.
   */
  onDelete?(userId: string, transaction: Transaction): Promise<void>;
  /** The problems that {@link onDelete} throws, in addition to `account_in_use`. @default none */
  readonly deletionProblems?: readonly AuthErrorCode[];
  /** Revokes the account's access at other services when its deletion is requested. The user's row is locked. */
  onDeletionRequested?(userId: string, transaction: Transaction): Promise<void>;
  /** Waits for background work, before the connections are closed. */
  settle?(): Promise<void>;
}

let administrators: readonly string[] = [];

/** Registers how to configure administrators, for error messages. The plugin's module calls it when it is loaded. */
export function declareAdministrators(how: string): void {
  administrators = [how];
}

/** Returns how to configure administrators. Empty if a bundler has left the plugin out. */
export function howToNameAdministrators(): readonly string[] {
  return administrators;
}

let passwords = 'a plugin with passwords';

/** Registers how to enable passwords, for error messages. The plugin's module calls it when it is loaded. */
export function declarePasswords(how: string): void {
  passwords = how;
}

/** Returns how to enable passwords, for error messages. */
export function howToEnablePasswords(): string {
  return passwords;
}
