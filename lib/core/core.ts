import type { ServerResponse } from 'node:http';
import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import { PAGE } from '../config/email.js';
import type { ChallengeIssuer } from '../config/human-check.js';
import { CallContext, type PlainRequest } from '../context/call.js';
import { EmailedCodes } from '../crypto/emailed-codes.js';
import { SecretBox } from '../crypto/secret-box.js';
import { isActingToken, isSessionToken } from '../crypto/token.js';
import { openDatabase } from '../database/database.js';
import { Degraded } from '../degraded.js';
import { AuthError, type AuthErrorCode } from '../errors.js';
import { Factors } from '../factors/factors.js';
import { PasskeyStore } from '../factors/passkeys.js';
import { HumanCheck } from '../human-check/human-check.js';
import { requireKnownKeys } from '../known-keys.js';
import { Limiter } from '../limits/limiter.js';
import { openLimitStore } from '../limits/open.js';
import { Refusals, type Refused } from '../limits/refusals.js';
import { Languages } from '../locale/languages.js';
import { type Asked, Mails } from '../mail/mails.js';
import { Mailer } from '../mail/messages.js';
import { AccountHistory } from '../notices/changes.js';
import { Notices } from '../notices/notices.js';
import { Events } from '../outbox/events.js';
import { Outbox } from '../outbox/outbox.js';
import { EVERYTHING, type Permissions } from '../permissions.js';
import {
  joinCarriers,
  MAX_PRESENTED_SESSIONS,
  namesDevice,
  ownCarriers,
  sessionOf,
} from '../sessions/carriers.js';
import { Completion } from '../sessions/completion.js';
import { DeviceRows } from '../sessions/device-rows.js';
import { Devices } from '../sessions/devices.js';
import { EmailCodeStep } from '../sessions/email-code-step.js';
import { LeftOut } from '../sessions/left-out.js';
import { OwnBrowser } from '../sessions/own-browser.js';
import { PasswordCheck } from '../sessions/password-check.js';
import { PendingSignIns } from '../sessions/pending-sign-ins.js';
import {
  type Carrier,
  type ClientInput,
  forClientOf,
  KEYS_OF_CLIENT,
  type RequestLike,
  type SessionAuthentication,
  type TransactionOption,
  toPlainRequest,
} from '../sessions/request.js';
import { SecondFactorRules } from '../sessions/second-factor.js';
import { Sessions } from '../sessions/sessions.js';
import {
  type AuthenticatedUser,
  type CheckedSignIn,
  SignInGate,
  type SignInOptions,
} from '../sessions/sign-in.js';
import {
  countSignIn,
  FRESH_SECONDS,
  type IssuedSession,
  requireFresh,
  type SignedIn,
} from '../sessions/signed-in.js';
import { Tasks } from '../sessions/tasks.js';
import type { Columns } from '../tables/column.js';
import type { AddedColumns, AddedToSessions, Session, User } from '../tables/core.js';
import { Table, type TableDeclaration } from '../tables/table.js';
import type { SignInMethod } from '../telemetry.js';
import { SignUp } from '../users/create.js';
import { EmailProof } from '../users/email-proof.js';
import { HeldEmails } from '../users/held-emails.js';
import { ImportedUsers } from '../users/imported-users.js';
import { type PasswordSettings, Passwords, type PasswordsNeeds } from '../users/passwords.js';
import { type AccountRow, checkAccount, type UserRecord } from '../users/record.js';
import { UserUpdates } from '../users/updates.js';
import { Users } from '../users/users.js';
import { MailDelivery } from '../verification/delivery.js';
import { EmailProofs } from '../verification/email-proofs.js';
import { EmailVerification } from '../verification/email-verification.js';
import { MailLanguages } from '../verification/mail-languages.js';
import { PasswordLinks } from '../verification/password-links.js';
import { OneTimeTokens } from '../verification/tokens.js';
import { TypedCodes } from '../verification/typed-codes.js';
import { VerificationCodes } from '../verification/verification-codes.js';
import { CodeRequests } from '../waiting/code-requests.js';
import { CodeTries } from '../waiting/code-tries.js';
import { EmailedSignIns } from '../waiting/emailed-sign-ins.js';
import { english } from '../words/emails/index.js';
import type { AccountFeatures, UserPermissions } from './account-features.js';
import { BasePath } from './base-path.js';
import {
  ADMINISTRATION,
  type Administration,
  type Contribution,
  type Memberships,
  type Pages,
} from './contribution.js';

/** The originator of a change to an account, and the requirements on its session. */
export interface ChangedBy {
  /** The requesting session, which must still be active. Null for the app's own code and for administrators. */
  readonly sessionId: string | null;
  /** Whether the change requires the second factor, if the account has one. @default true */
  readonly changesWaysIn?: boolean;
  /** Whether the user of the session must have signed in or reauthenticated in the last ten minutes. @default false */
  readonly fresh?: boolean;
}

/** A change by the app's own code, or by an administrator. */
export const BY_CODE: ChangedBy = { sessionId: null };

/** What says in which session a call from the app's code is made. */
interface CalledWith {
  readonly sessionId?: unknown;
  readonly request?: RequestLike | undefined;
}

/** What `createAuth` gives the core. */
export interface CoreOptions {
  readonly settings: Settings;
  readonly secrets: readonly string[];
  /** The columns that plugins add to users. */
  readonly addedColumns: readonly AddedColumns[];
  /** The columns that plugins add to sessions. */
  readonly addedToSessions: readonly AddedToSessions[];
  readonly accountFeatures: AccountFeatures;
  /** Sets up the plugins. Their contributions are not used before it returns. */
  setUp(core: Core): readonly Contribution[];
}

/** What the core is given. It has a class of its own because a class creates its fields before its constructor runs. */
class Given {
  readonly settings: Settings;
  /** The columns that plugins add to users. */
  readonly addedColumns: readonly AddedColumns[];
  /** The columns that plugins add to sessions. */
  readonly addedToSessions: readonly AddedToSessions[];
  /** What accounts can have because of plugins, without the settings of passwords. */
  readonly accountFeatures: Omit<AccountFeatures, 'passwords'>;
  /** Whether users are read with `HAS_PASSKEY`, because a passkey can be the second factor that they must have. */
  readonly readsPasskeys: boolean;
  /** Private, because they contain the pepper. */
  readonly #passwords: PasswordSettings | null;
  /** The cost of hashes of passwords. Null if passwords are not hashed with bcrypt. */
  readonly bcryptCost: number | null;
  /** Encrypts secrets that must be readable later. */
  readonly box: SecretBox;
  /** The codes in emails. */
  readonly codes: EmailedCodes;
  /** Issues the challenges of the human check. Null unless latchkey issues them itself. */
  readonly challenges: ChallengeIssuer | null;

  constructor({ settings, addedColumns, addedToSessions, accountFeatures, secrets }: CoreOptions) {
    const { passwords = null, ...features } = accountFeatures;
    this.settings = settings;
    this.addedColumns = addedColumns;
    this.addedToSessions = addedToSessions;
    this.accountFeatures = features;
    const { passkeys = false, secondFactors } = features;
    this.readsPasskeys = passkeys && (secondFactors?.required ?? 'never') !== 'never';
    this.#passwords = passwords;
    this.bcryptCost = passwords?.hash === 'bcrypt' ? passwords.bcryptCost : null;
    this.box = new SecretBox(secrets);
    this.codes = new EmailedCodes(secrets);
    this.challenges = settings.humanCheck?.verify.builtIn?.issuer?.(secrets) ?? null;
  }

  /** Creates what checks and hashes passwords. Null if users cannot have a password. */
  protected newPasswords(core: PasswordsNeeds): Passwords | null {
    return this.#passwords && new Passwords(core, this.#passwords);
  }
}

/**
 * The services that plugins, routes and guards share.
 *
 * Its parts are created in the order in which they are written here. Each is given the core, and declares which members
 * it needs, such as `SignInNeeds`. Its constructor can use the parts above it. The parts below it do not exist yet, so
 * a part must not use them before it is called.
 */
export class Core extends Given {
  readonly context = new CallContext();
  /** The languages of pages, emails and errors. */
  readonly languages = new Languages(this);
  readonly database = openDatabase(this.settings.database, this.settings.tablePrefix, this.context);
  /** The store of the rate limits, even if rate limits are disabled. */
  readonly counters = openLimitStore(this.settings.rateLimit?.store ?? null, this.database);
  /** The counters of the rate limits. Null if rate limits are disabled. */
  readonly limits = this.settings.rateLimit && this.counters;
  readonly limiter = new Limiter(
    this,
    new Refusals(this.context.background, (refused) => this.#report(refused)),
  );
  readonly events = new Events(this.database, this.settings.log);
  readonly outbox = new Outbox(this);
  /** The parts that currently do less than they should. */
  readonly degraded = new Degraded();
  /** Checks that a person has sent a request. Null if it is not configured. */
  readonly humanCheck = this.settings.humanCheck ? new HumanCheck(this, this.settings.humanCheck) : null;
  /** The path of the routes. */
  readonly basePath = new BasePath(this.settings);
  /** The accounts of imported rows, and of `auth.users.ensure`. */
  readonly imported = new ImportedUsers(this.database, this.box);
  readonly users = new Users(this);
  readonly sessions = new Sessions(this);
  /** The emails that an undo would restore. */
  readonly held = new HeldEmails(this);
  /** Creates accounts. */
  readonly signUp = new SignUp(this);
  /** Changes accounts. */
  readonly userUpdates = new UserUpdates(this);
  /** The recorded changes of accounts, which can be undone. */
  readonly history = new AccountHistory(this);
  readonly deviceRows = new DeviceRows(this);
  /** Chooses the languages of emails. */
  readonly mailLanguages = new MailLanguages(this);
  /** Writes emails to the outbox. Null if `email` is not configured. */
  readonly mails = this.settings.email && new Mails(this.outbox, this.mailLanguages);
  readonly notices = new Notices(this);
  readonly devices = new Devices(this);
  /** The second factors of accounts. Null if accounts cannot have one. */
  readonly factors = this.accountFeatures.secondFactors ? new Factors(this) : null;
  /** The passkeys of accounts. Null if accounts cannot have passkeys. */
  readonly passkeys = this.accountFeatures.passkeys ? new PasskeyStore(this) : null;
  /** The rules for accounts with a second factor. */
  readonly secondFactors = new SecondFactorRules(this);
  /** The tasks that users must do before their sessions can be used. */
  readonly tasks = new Tasks(this);
  /** The attempts to enter emailed codes. */
  readonly codeTries = new CodeTries(this.database);
  /** The sign-ins that wait for an emailed code or link. Null without a plugin for them. */
  readonly emailedSignIns =
    this.accountFeatures.emailedSignIns === undefined
      ? null
      : new EmailedSignIns(this, this.accountFeatures.emailedSignIns);
  /** The requests for other emailed codes. Null without a plugin for them. */
  readonly codeRequests =
    this.accountFeatures.codeRequests === undefined
      ? null
      : new CodeRequests(this, this.accountFeatures.codeRequests);
  /** The sign-ins that wait for a further step. */
  readonly pendings = new PendingSignIns(this);
  /** The rules for usernames. Null if users cannot have a username. */
  readonly usernames = this.accountFeatures.usernames ?? null;
  /** What users are allowed to do. Null if users have no roles. */
  readonly permissions: UserPermissions | null = this.accountFeatures.permissions ?? null;
  /** Checks and hashes passwords. Null if users cannot have a password. */
  readonly passwords = this.newPasswords(this);
  /** Verifies passwords. Null if users cannot have a password. */
  readonly passwordCheck = this.passwords && new PasswordCheck(this, this.passwords);
  /** The codes that are emailed when a user enters the password in an unknown browser. */
  readonly emailCodes = new EmailCodeStep(this);
  /** Rejects sign-ins that a plugin would reject that this config lacks. */
  readonly leftOut = new LeftOut(this);
  readonly signInGate = new SignInGate(this);
  /** Completes pending sign-ins. */
  readonly completion = new Completion(this);
  /** Decides whether a request comes from an account's own browser. */
  readonly ownBrowser = new OwnBrowser(this);
  readonly emailProofs = new EmailProofs(this);
  readonly tokens = new OneTimeTokens(this);
  /** Checks the codes of {@link codeRequests}. Null without a plugin for them. */
  readonly typedCodes = this.codeRequests && new TypedCodes(this, this.codeRequests);
  /** Emails links to choose a password. Null without emails or passwords. */
  readonly passwordLinks = this.mails && this.passwords && new PasswordLinks(this, this.mails);
  /** Emails links that verify the address. Null without emails or passwords. */
  readonly emailVerification = this.#newEmailVerification();
  /** The contributions of plugins. The list is complete when all plugins are set up. */
  readonly contributions: readonly Contribution[];
  /** The carriers of sessions, in the order in which they are tried. */
  readonly carriers: readonly Carrier[];
  /** What plugins do after the carriers: see `Contribution.afterCarriers`. */
  readonly afterCarriers: readonly NonNullable<Contribution['afterCarriers']>[];
  /** The memberships of users in organizations. Null if there are no organizations. */
  readonly memberships: Memberships | null;

  /** @throws TypeError if the database cannot be used, and the errors of plugins about their options */
  constructor(options: CoreOptions) {
    super(options);
    const { email, log, outbox } = this.settings;
    if (outbox.waitUntil)
      this.context.background.announceTo(outbox.waitUntil, (error) => {
        const text =
          'outbox.waitUntil failed, so the platform might interrupt work that continues after a response';
        log.error('outbox.wait_until_failed', text, { err: error });
      });
    if (email)
      this.outbox.addDestination(
        new MailDelivery(
          this,
          new Mailer(email, {
            pageUrl: (page) => this.pageUrl(page),
            now: () => this.database.clock.date(),
            wordsFor: (language) => this.languages.emailsIn(language, english),
            textsIn: (language) => this.languages.textsIn(language),
          }),
        ),
      );
    this.contributions = options.setUp(this);
    const ofPlugins = this.contributions.flatMap(({ carriers = [] }) => carriers);
    this.carriers = joinCarriers([...ofPlugins, ...ownCarriers(this)]);
    this.afterCarriers = this.contributions.flatMap((plugin) => plugin.afterCarriers?.bind(plugin) ?? []);
    this.memberships = this.contributions.find(({ memberships }) => memberships)?.memberships ?? null;
  }

  /** Gives access to a table. */
  table<C extends Columns>(declaration: TableDeclaration<C>): Table<C> {
    return new Table(this.database, declaration);
  }

  /**
   * Runs `work` for a call from the app's code, in the app's transaction. In an acting session, no such call is possible.
   *
   * @param name the call, for the error
   * @param keys the keys of the options other than `transaction`
   * @throws TypeError for other keys
   * @throws AuthError `acting_session`
   */
  async call<T>(
    name: string,
    options: TransactionOption,
    keys: readonly string[],
    work: () => Promise<T>,
  ): Promise<T> {
    requireKnownKeys(name, options, [...keys, 'transaction']);
    return this.inTransaction(options.transaction, this.#inOwnSession(options, work));
  }

  /** Like {@link call}, for a call whose input also has the client. */
  async callFor<T>(
    name: string,
    input: ClientInput,
    keys: readonly string[],
    work: () => Promise<T>,
  ): Promise<T> {
    requireKnownKeys(name, input, [...keys, ...KEYS_OF_CLIENT]);
    return this.forClient(input, this.#inOwnSession(input, work));
  }

  /**
   * Like {@link callFor}, for a call that requires no session, such as a sign-in. So it does not matter which one the request
   * presents.
   */
  async callByAnyone<T>(
    name: string,
    input: ClientInput,
    keys: readonly string[],
    work: () => Promise<T>,
  ): Promise<T> {
    requireKnownKeys(name, input, [...keys, ...KEYS_OF_CLIENT]);
    return this.forClient(input, this.#inOwnSession({ ...input, request: undefined }, work));
  }

  /** Returns `work`, before which the call's session and the one of its request are checked: neither can be an acting one. */
  #inOwnSession<T>(
    { sessionId, request }: TransactionOption & CalledWith,
    work: () => Promise<T>,
  ): () => Promise<T> {
    if (!this.sessions.canAct || (sessionId === undefined && request === undefined)) return work;
    return async () => {
      await this.sessions.requireOwn(sessionId);
      if ((await this.actingSessions(request)).length > 0) throw new AuthError('acting_session');
      return work();
    };
  }

  /** Returns the active acting sessions that a request presents. */
  async actingSessions(request: RequestLike | undefined): Promise<readonly Session[]> {
    const tokens = request && this.sessions.canAct ? this.sessionTokens(toPlainRequest(request)) : [];
    const found = await Promise.all(
      tokens.filter(isActingToken).map((token) => this.sessions.find(token, false)),
    );
    return found.flatMap((one) => (one ? [one.session] : []));
  }

  /** Runs `work` for the client and in the transaction that the input of a programmatic call contains. */
  forClient<T>(input: ClientInput, work: () => Promise<T>): Promise<T> {
    return this.inTransaction(input.transaction, () => forClientOf(this.context, input, work));
  }

  /** Runs `work` as a part of the app's transaction, if the app passed one: see `Database.join`. */
  inTransaction<T>(transaction: TransactionOption['transaction'], work: () => Promise<T>): Promise<T> {
    return this.database.join(transaction, work);
  }

  /**
   * Tells plugins that a client has signed in or out: see `Contribution.afterSignInOrOut`.
   *
   * @returns whether this has ended another session of the client
   */
  async afterSignInOrOut(
    session: IssuedSession | null,
    req: PlainRequest,
    res: ServerResponse,
  ): Promise<boolean> {
    let hasEnded = false;
    for (const plugin of this.contributions)
      hasEnded = (await plugin.afterSignInOrOut?.(session, req, res)) || hasEnded;
    return hasEnded;
  }

  /** Creates a session: see {@link SignInGate}. @throws AuthError if a check rejects the user */
  signIn(proof: AuthenticatedUser, options?: SignInOptions): Promise<SignedIn> {
    return this.signInGate.begin(proof, options);
  }

  /** The first half of {@link signIn}, for a session that is created in the same transaction as another change. */
  checkSignIn(record: Omit<AuthenticatedUser, 'authEpoch'>, options?: SignInOptions): Promise<CheckedSignIn> {
    return this.signInGate.check(record, options);
  }

  /** Counts a sign-in by its method and outcome. If `work` returns null, it was not a sign-in, and is not counted. */
  countSignIn<T extends SignedIn | null>(method: SignInMethod, work: () => Promise<T>): Promise<T> {
    const { telemetry } = this.settings;
    return telemetry ? countSignIn(telemetry, method, work) : work();
  }

  /** The problems of every sign-in: of its checks, and of an account that changes in the meantime. */
  get signInProblems(): readonly AuthErrorCode[] {
    return [
      'invalid_credentials',
      ...(this.emailVerification?.isRequired && !this.emailVerification.asksAtSignIn
        ? (['email_not_verified'] as const)
        : []),
    ];
  }

  /**
   * Whether the current request names its device in a header. The response then does too, and does not set a cookie.
   */
  get namesDevice(): boolean {
    return namesDevice(this.carriers, this.context.client.request);
  }

  /** Whether browsers might have the cookie of a pending sign-in. */
  get usesPendingCookie(): boolean {
    return this.completion.canWait || this.emailedSignIns !== null;
  }

  /**
   * Returns the session that a request presents, for a route that does not require one. Null if the request does not
   * present a session, or if the session has ended or has open tasks.
   */
  async usableSession(request: PlainRequest): Promise<SessionAuthentication | null> {
    const found = await sessionOf(this.carriers, request);
    return found && this.tasks.admitIfDone(found);
  }

  /**
   * Ends the session whose token a request presents, for a client that signs out. The session can be active although
   * the request was not authenticated, if its account is incomplete.
   *
   * @returns whether it was active
   */
  async endPresented(request: PlainRequest): Promise<boolean> {
    const tokens = this.sessionTokens(request).filter(isSessionToken);
    const [token, ...others] = tokens;
    // Of several, another subdomain can have set one.
    return token !== undefined && others.length === 0 && this.sessions.revokeByToken(token);
  }

  /** Returns the session tokens that a request presents, valid or not. */
  sessionTokens(request: PlainRequest): readonly string[] {
    const tokens = this.carriers.flatMap((carrier) => carrier.sessionTokens(request));
    return [...new Set(tokens)].slice(0, MAX_PRESENTED_SESSIONS);
  }

  /**
   * Changes a user's account in a transaction. The user's row is locked, and a requesting session must still be active,
   * so that a request in flight cannot undo a password reset or a revoke-all. The app's own code can change any
   * account, including suspended ones. If it changes what the user signs in with, that is final: no undo link from before
   * can revert it.
   *
   * @throws AuthError `user_not_found` for code; for a session `invalid_session`, `second_factor_required`,
   *   `reauthentication_required`, and the errors of plugins' account checks
   */
  change<T>(
    userId: string,
    { sessionId, changesWaysIn = true, fresh = false }: ChangedBy,
    work: (record: UserRecord, transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.database.transaction(async (transaction) => {
      const record = await this.users.lock(userId, transaction);
      if (sessionId === null) {
        if (!record) throw new AuthError('user_not_found');
        const { outcome, hasChangedSignIn } = await this.users.watching(userId, transaction, () =>
          work(record, transaction),
        );
        if (hasChangedSignIn) await this.history.end(userId, transaction);
        return outcome;
      }
      const session = record && (await this.sessions.stillOpen(sessionId, record.authEpoch, transaction));
      // A session ends when its account is deleted, so a request about a missing account has no valid session.
      if (!record || session?.userId !== userId) throw new AuthError('invalid_session');
      if (changesWaysIn) this.secondFactors.requireFor(record.account, session);
      if (fresh) requireFresh(this.database, session, FRESH_SECONDS);
      this.checkAccount(record.account);
      return work(record, transaction);
    });
  }

  /**
   * Marks a user's email as verified because the app says so, in its own transaction: see {@link EmailProofs}.
   *
   * @throws AuthError `user_not_found` if the user does not exist, or has no email
   */
  async proveEmail(userId: string): Promise<User> {
    const { user } = await this.change(userId, BY_CODE, async (record, transaction) => {
      if (record.user.email === null) throw new AuthError('user_not_found');
      return this.emailProofs.record(record, { proof: EmailProof.byApp }, transaction);
    });
    return user;
  }

  /** Describes who requests an email: see `MailDelivery`. @param inSession whether the account's own session does */
  asked(inSession: boolean): Asked {
    return { inSession, device: this.devices.presented?.toString('hex') ?? null };
  }

  /** Returns the user whose session the current request presents, which can be another user's than the call is about. */
  async sessionUserId(): Promise<string | null> {
    const { request } = this.context.client;
    return request ? ((await sessionOf(this.carriers, request))?.user.id ?? null) : null;
  }

  /**
   * Returns the URL of a page of the app or of a plugin.
   *
   * @param page a URL, a path, or {@link PAGE} and a name
   */
  pageUrl(page: string): string {
    if (!page.startsWith(PAGE)) return page;
    const name = page.slice(PAGE.length);
    return this.pages?.url(name) ?? `${this.settings.publicPath}/${name}`;
  }

  /** The pages of a plugin, if there is one that has pages. */
  get pages(): Pages | undefined {
    return this.contributions.find(({ pages }) => pages)?.pages;
  }

  /** Runs the account checks of all plugins. @throws AuthError such as `account_suspended` */
  checkAccount(account: AccountRow): void {
    checkAccount(account, this.contributions);
  }

  /** Whether a plugin defines administrators. */
  get hasAdministrators(): boolean {
    return this.contributions.some(({ administrators }) => administrators);
  }

  /** The requirements on an administrator's session for changes. */
  get administration(): Administration {
    const required = this.contributions.flatMap(({ administrators }) => administrators?.requires ?? []);
    return required[0] ?? ADMINISTRATION;
  }

  isAdministrator(user: User): boolean {
    return this.contributions.some(({ administrators }) => administrators?.is(user));
  }

  /** Whether a role makes users administrators. */
  get hasAdministratorsByRole(): boolean {
    return this.contributions.some(({ administrators }) => administrators?.role !== undefined);
  }

  /** Whether the app's config names a user as an administrator. */
  isNamedAdministrator(user: User): boolean {
    return this.contributions.some(({ administrators }) => administrators?.isNamed?.(user));
  }

  /** The emails that get a notice when a user becomes an administrator. */
  get emailsOfAdministrators(): readonly string[] {
    return this.contributions.flatMap(({ administrators }) => administrators?.emails ?? []);
  }

  /** Returns what a user is allowed to do. Administrators whom the config names are allowed to do everything. */
  permissionsOf(user: User): Permissions {
    if (this.isNamedAdministrator(user)) return [EVERYTHING];
    return this.permissions?.of(user) ?? [];
  }

  /** The attributes of a user that plugins show to clients. */
  get shownOfUser(): readonly (keyof User)[] {
    return this.contributions.flatMap(({ shows }) => shows?.user ?? []);
  }

  /** The attributes of a session that plugins show to clients. */
  get shownOfSession(): readonly (keyof Session)[] {
    return this.contributions.flatMap(({ shows }) => shows?.session ?? []);
  }

  #newEmailVerification(): EmailVerification | null {
    const { mails, passwordCheck: check } = this;
    const { emailVerification: settings } = this.accountFeatures;
    if (!mails || !check || !settings) return null;
    const { codeRequests: rows, typedCodes } = this;
    const codes =
      settings.by === 'code' && rows && typedCodes
        ? new VerificationCodes(this, { mails, rows, codes: typedCodes })
        : null;
    return new EmailVerification(this, { ...settings, mails, check, codes });
  }

  /** Emits an event about the requests that a limit has rejected, and logs their number without the address. */
  #report(refused: Refused): Promise<void> {
    const { limit, count } = refused;
    this.settings.log.warn(
      'rate_limit.refused',
      `the limit ${limit} has rejected requests because of their IP addresses within a minute: ${count}`,
      { cause: null, status: 429, code: 'rate_limited', limit, count },
    );
    return this.context.detached(() => this.events.emitAndWait('rate_limit.refused', refused));
  }

  /** Loads the packages that the config needs. @throws Error naming the one to install */
  async load(): Promise<void> {
    await this.settings.telemetry?.loaded();
    await this.passwords?.load();
  }

  /** Waits for background work. */
  async settle(): Promise<void> {
    await this.sessions.settle();
    await this.outbox.settle();
    // Wait for the outbox first, because the app's `send` can cause events, which the audit log writes.
    await Promise.all(this.contributions.map((contribution) => contribution.settle?.()));
  }
}
