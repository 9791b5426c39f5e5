import type { ServerResponse } from 'node:http';
import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import { PAGE } from '../config/email.js';
import type { CallContext, PlainRequest } from '../context/call.js';
import type { EmailedCodes } from '../crypto/emailed-codes.js';
import type { SecretBox } from '../crypto/secret-box.js';
import type { Database } from '../database/database.js';
import { Degraded } from '../degraded.js';
import { AuthError, type AuthErrorCode } from '../errors.js';
import { requireKnownKeys } from '../known-keys.js';
import type { Limiter } from '../limits/limiter.js';
import { type Asked, Mails } from '../mail/mails.js';
import type { Mailer } from '../mail/messages.js';
import { AccountChanges } from '../notices/changes.js';
import { Notices } from '../notices/notices.js';
import type { Events } from '../outbox/events.js';
import type { Outbox } from '../outbox/outbox.js';
import { deviceTokensOf, joinCarriers, namesDevice, sessionOf } from '../sessions/carriers.js';
import { Completion } from '../sessions/completion.js';
import { DeviceRows } from '../sessions/device-rows.js';
import { Devices } from '../sessions/devices.js';
import { EmailCodeStep } from '../sessions/email-code-step.js';
import { PasswordCheck } from '../sessions/password-check.js';
import { PendingSignIns } from '../sessions/pending-sign-ins.js';
import { RecentBrowsers } from '../sessions/recent-browsers.js';
import {
  type Carrier,
  type ClientInput,
  forClientOf,
  KEYS_OF_CLIENT,
  type SessionAuthentication,
  type TransactionOption,
} from '../sessions/request.js';
import { SecondFactorRules } from '../sessions/second-factor.js';
import { Sessions, type SessionWithUser } from '../sessions/sessions.js';
import {
  type CheckedSignIn,
  NewSessions,
  type Proof,
  SignIn,
  type SignInOptions,
} from '../sessions/sign-in.js';
import { countSignIn, FRESH_SECONDS, requireFresh, type SignedIn } from '../sessions/signed-in.js';
import { Tasks } from '../sessions/tasks.js';
import type { Columns } from '../tables/column.js';
import {
  accountChanges,
  devices,
  deviceTokens,
  oneTimeTokens,
  recentBrowsers,
  type Session,
  sessions,
  type User,
} from '../tables/core.js';
import { type Fact, Table, type TableDeclaration } from '../tables/table.js';
import type { SignInMethod } from '../telemetry.js';
import { SignUp } from '../users/create.js';
import { EmailProof } from '../users/email-proof.js';
import { HeldEmails } from '../users/held-emails.js';
import { ImportedUsers } from '../users/imported-users.js';
import { type PasswordSettings, Passwords } from '../users/passwords.js';
import { type AccountRow, checkAccount, type UserRecord } from '../users/record.js';
import { UserUpdates } from '../users/updates.js';
import type { UsernameRules } from '../users/usernames.js';
import { Users } from '../users/users.js';
import { MailDelivery } from '../verification/delivery.js';
import { ProofOfEmail } from '../verification/proof.js';
import { OneTimeTokens } from '../verification/tokens.js';
import { CodeTries } from '../waiting/code-tries.js';
import { WaitingOfUsers } from '../waiting/waiting.js';
import { BasePath } from './base-path.js';
import { ADMINISTRATION, type Administration, type Contribution } from './contribution.js';

/** The columns, usernames and passwords that plugins add to users. */
export interface AddedToUsers {
  readonly columns: readonly Columns[];
  /** The conditions that are read with each user, because a plugin needs them. */
  facts(database: Pick<Database, 'table'>): readonly Fact[];
  /** The rules for usernames. Null if users have no usernames. */
  readonly usernames: UsernameRules | null;
  /** The settings of passwords. Null if users have no passwords. */
  readonly passwords: PasswordSettings | null;
}

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

const DAY_MS = 24 * 60 * 60 * 1000;

// A browser sends one session, or two if another subdomain has set a cookie with the same name.
const MAX_PRESENTED_SESSIONS = 2;

/** The services that plugins, routes and guards share. */
export class Core {
  readonly users: Users;
  /** The imported rows, and the changes of their accounts since the import. */
  readonly imported: ImportedUsers;
  /** The rules for usernames. Null if users cannot have a username. */
  readonly usernames: UsernameRules | null;
  /** Checks and hashes passwords. Null if users cannot have a password. */
  readonly passwords: Passwords | null;
  /** Verifies passwords. Null if users cannot have a password. */
  readonly passwordCheck: PasswordCheck | null;
  /** Creates accounts. */
  readonly signUp: SignUp;
  /** Changes accounts. */
  readonly updates: UserUpdates;
  readonly sessions: Sessions;
  readonly tokens: OneTimeTokens;
  readonly devices: Devices;
  /** The carriers of sessions, in the order in which they are tried. */
  readonly carriers: readonly Carrier[];
  /** What plugins do after the carriers: see `Contribution.afterCarriers`. */
  readonly afterCarriers: readonly NonNullable<Contribution['afterCarriers']>[];
  readonly #contributions: readonly Contribution[];
  /** The rules for accounts with a second factor. */
  readonly secondFactors: SecondFactorRules;
  /** The tasks that users must do before their sessions can be used. */
  readonly tasks: Tasks;
  /** The attempts to enter emailed codes. */
  readonly codeTries: CodeTries;
  /** The codes that are emailed when a user enters the password in an unknown browser. */
  readonly emailCodes: EmailCodeStep;
  /** The sign-ins that wait for a further step. */
  readonly pendings: PendingSignIns;
  /** Completes pending sign-ins. */
  readonly completion: Completion;
  /** The recorded changes of accounts, which can be undone. */
  readonly changes: AccountChanges;
  readonly notices: Notices;
  /** The parts that currently do less than they should. */
  readonly degraded = new Degraded();
  /** Writes emails to the outbox. Null if `email` is not configured. */
  readonly mails: Mails | null;
  readonly gate: SignIn;
  readonly proofs: ProofOfEmail;
  /** The path of the routes. */
  readonly basePath: BasePath;

  /**
   * @param ofUsers the parts that plugins add to users
   * @param carriersOf creates the carriers of sessions
   * @param setUp sets up the plugins. Their contributions are not used before it returns
   */
  constructor(
    readonly settings: Settings,
    readonly context: CallContext,
    readonly database: Database,
    readonly events: Events,
    readonly limiter: Limiter,
    mailer: Mailer | null,
    readonly outbox: Outbox,
    /** Encrypts secrets that must be readable later. */
    readonly box: SecretBox,
    /** The codes in emails. */
    readonly codes: EmailedCodes,
    ofUsers: AddedToUsers,
    carriersOf: (sessions: Pick<Sessions, 'find'>) => readonly Carrier[],
    setUp: (core: Core) => readonly Contribution[],
  ) {
    this.imported = new ImportedUsers(database, box);
    this.basePath = new BasePath(settings);
    const contributions = () => this.#contributions;
    this.users = new Users(
      database,
      settings,
      ofUsers.columns,
      ofUsers.facts(database),
      this.imported,
      contributions,
    );
    this.codeTries = new CodeTries(database);
    const tokens = new WaitingOfUsers(this, oneTimeTokens);
    const tables = {
      users: this.users.table,
      sessions: this.table(sessions),
      devices: this.table(devices),
      deviceTokens: this.table(deviceTokens),
      changes: this.table(accountChanges),
    };
    this.sessions = new Sessions(
      database,
      tables,
      this.users.selections.shown,
      settings,
      events,
      contributions,
    );
    const held = new HeldEmails(database, tables.changes, (settings.email?.notices ?? []).length > 0);
    this.signUp = new SignUp(database, this.users, settings, held, events, this.imported);
    this.updates = new UserUpdates(context, this.users, settings.hooks, held, this.imported);
    this.changes = new AccountChanges(database, tables.changes, tables.devices, box, contributions);
    const deviceRows = new DeviceRows(database, tables, settings.accountDeletion.graceDays * DAY_MS);
    this.mails = mailer && new Mails(outbox);
    this.notices = new Notices(
      this.mails,
      settings.email?.notices ?? [],
      this.changes,
      deviceRows,
      context,
      database.clock,
      settings.email?.undoUrl ?? '',
      settings.email?.support ?? '',
    );
    this.devices = new Devices(
      database,
      deviceRows,
      new RecentBrowsers(database, this.table(recentBrowsers)),
      contributions,
      context,
      this.notices,
      (request) => deviceTokensOf(this.carriers, request),
      () => this.namesDevice,
      settings.cookie.domain === undefined,
    );
    this.secondFactors = new SecondFactorRules(database, contributions);
    this.tasks = new Tasks(settings.tasks, contributions, settings.log);
    this.pendings = new PendingSignIns(
      database,
      this.users,
      context,
      settings,
      this.codeTries,
      contributions,
    );
    this.usernames = ofUsers.usernames;
    this.passwords =
      ofUsers.passwords &&
      new Passwords(
        ofUsers.passwords,
        this.usernames,
        context,
        settings.log,
        () => limiter.client,
        settings.telemetry,
      );
    this.passwordCheck =
      this.passwords &&
      new PasswordCheck(
        database,
        this.users,
        this.passwords,
        limiter,
        this.devices,
        this.secondFactors,
        events,
        settings.log,
        (account) => this.checkAccount(account),
        async (record, purpose) => {
          for (const { refusesPassword } of this.contributions) await refusesPassword?.(record, purpose);
        },
      );
    this.emailCodes = new EmailCodeStep(
      database,
      this.pendings,
      this.devices,
      codes,
      this.mails,
      settings,
      limiter,
      events,
      context,
      contributions,
    );
    this.gate = new SignIn(
      new NewSessions(tables.sessions, this.sessions, settings, database, context, (request) =>
        this.sessionTokens(request),
      ),
      this.devices,
      settings,
      database,
      events,
      contributions,
      this.users,
      this.secondFactors,
      this.emailCodes,
      this.pendings,
      limiter,
    );
    this.completion = new Completion(
      database,
      this.pendings,
      this.gate,
      this.secondFactors,
      this.emailCodes,
      this.users,
      contributions,
    );
    this.proofs = new ProofOfEmail(
      database.clock,
      this.users,
      this.updates,
      this.usernames,
      this.sessions,
      tokens.table,
      this.devices,
      events,
      contributions,
      this.changes,
    );
    this.tokens = new OneTimeTokens(database, tokens, this.proofs, contributions);
    if (mailer)
      outbox.addDestination(
        new MailDelivery(
          database,
          mailer,
          this.tokens,
          this.users,
          limiter,
          this.devices,
          held,
          contributions,
        ),
      );
    this.#contributions = setUp(this);
    this.tokens.checkPurposes();
    const ofPlugins = this.#contributions.flatMap(({ carriers = [] }) => carriers);
    this.carriers = joinCarriers([...ofPlugins, ...carriersOf(this.sessions)]);
    this.afterCarriers = this.#contributions.flatMap((plugin) => plugin.afterCarriers?.bind(plugin) ?? []);
  }

  /** Gives access to a table. */
  table<C extends Columns>(declaration: TableDeclaration<C>): Table<C> {
    return new Table(this.database, declaration);
  }

  /**
   * Runs `work` for a call from the app's code, in the app's transaction.
   *
   * @param name the call, for the error
   * @param keys the keys of the options other than `transaction`
   * @throws TypeError for other keys
   */
  async call<T>(
    name: string,
    options: TransactionOption,
    keys: readonly string[],
    work: () => Promise<T>,
  ): Promise<T> {
    requireKnownKeys(name, options, [...keys, 'transaction']);
    return this.inTransaction(options.transaction, work);
  }

  /** Like {@link call}, for a call whose input also has the client. */
  async callFor<T>(
    name: string,
    input: ClientInput,
    keys: readonly string[],
    work: () => Promise<T>,
  ): Promise<T> {
    requireKnownKeys(name, input, [...keys, ...KEYS_OF_CLIENT]);
    return this.forClient(input, work);
  }

  /** Runs `work` for the client and in the transaction that the input of a programmatic call contains. */
  forClient<T>(input: ClientInput, work: () => Promise<T>): Promise<T> {
    return this.inTransaction(input.transaction, () => forClientOf(this.context, input, work));
  }

  /** Runs `work` as a part of the app's transaction, if the app passed one: see {@link Database.join}. */
  inTransaction<T>(transaction: TransactionOption['transaction'], work: () => Promise<T>): Promise<T> {
    return this.database.join(transaction, work);
  }

  /**
   * Tells plugins that a client has signed in or out: see `Contribution.afterSignInOrOut`.
   *
   * @returns whether this has ended another session of the client
   */
  async afterSignInOrOut(
    session: SessionWithUser | null,
    req: PlainRequest,
    res: ServerResponse,
  ): Promise<boolean> {
    let hasEnded = false;
    for (const plugin of this.contributions)
      hasEnded = (await plugin.afterSignInOrOut?.(session, req, res)) || hasEnded;
    return hasEnded;
  }

  /** Creates a session: see {@link SignIn}. @throws AuthError if a plugin's check rejects the user */
  signIn(proof: Proof, options?: SignInOptions): Promise<SignedIn> {
    return this.gate.begin(proof, options);
  }

  /** The first half of {@link signIn}, for a session that is created in the same transaction as another change. */
  checkSignIn(record: Omit<Proof, 'authEpoch'>, options?: SignInOptions): Promise<CheckedSignIn> {
    return this.gate.check(record, options);
  }

  /** Counts a sign-in by its method and outcome. If `work` returns null, it was not a sign-in, and is not counted. */
  countSignIn<T extends SignedIn | null>(method: SignInMethod, work: () => Promise<T>): Promise<T> {
    const { telemetry } = this.settings;
    return telemetry ? countSignIn(telemetry, method, work) : work();
  }

  /** The problems of every sign-in: of the plugins' checks, and of an account that changes in the meantime. */
  get signInProblems(): readonly AuthErrorCode[] {
    return [
      'invalid_credentials',
      ...this.contributions.flatMap(({ signInProblems = [] }) => signInProblems),
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
    return this.completion.canWait || this.#contributions.some(({ abandonPending }) => abandonPending);
  }

  /**
   * Returns the session that a request presents, for a route that does not require one. Null if the request does not
   * present a session, or if the session has ended or has open tasks.
   */
  async usableSession(request: PlainRequest): Promise<SessionAuthentication | null> {
    const found = await sessionOf(this.carriers, request);
    return found && this.tasks.admitIfDone(found);
  }

  /** Returns the session tokens that a request presents, valid or not. */
  sessionTokens(request: PlainRequest): readonly string[] {
    const tokens = this.carriers.flatMap((carrier) => carrier.sessionTokens(request));
    return [...new Set(tokens)].slice(0, MAX_PRESENTED_SESSIONS);
  }

  /**
   * Changes a user's account in a transaction. The user's row is locked, and a requesting session must still be active,
   * so that a request in flight cannot undo a password reset or a revoke-all. The app's own code can change any
   * account, including suspended ones.
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
        return work(record, transaction);
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
   * Marks a user's email as verified because the app says so, in its own transaction: see {@link ProofOfEmail}.
   *
   * @throws AuthError `user_not_found` if the user does not exist, or has no email
   */
  async proveEmail(userId: string): Promise<User> {
    const { user } = await this.change(userId, BY_CODE, async (record, transaction) => {
      if (record.user.email === null) throw new AuthError('user_not_found');
      return this.proofs.record(record, EmailProof.byApp, false, transaction);
    });
    return user;
  }

  /** Describes who requests an email: see `MailDelivery`. @param inSession whether the account's own session does */
  asked(inSession: boolean): Asked {
    return { inSession, device: this.devices.presented?.toString('hex') ?? null };
  }

  /** The contributions of plugins. The list is complete when all plugins are set up. */
  get contributions(): readonly Contribution[] {
    return this.#contributions;
  }

  /**
   * Returns the URL of a page of the app or of a plugin.
   *
   * @param page a URL, a path, or {@link PAGE} and a name
   */
  pageUrl(page: string): string {
    if (!page.startsWith(PAGE)) return page;
    const name = page.slice(PAGE.length);
    const { pageUrl } = this.#contributions.find((plugin) => plugin.pageUrl) ?? {};
    return pageUrl?.(name) ?? `${this.settings.publicPath}/${name}`;
  }

  /** Runs the account checks of all plugins. @throws AuthError such as `account_suspended` */
  checkAccount(account: AccountRow): void {
    checkAccount(account, this.contributions);
  }

  /** Whether a plugin defines administrators. */
  get hasAdministrators(): boolean {
    return this.contributions.some(({ isAdministrator }) => isAdministrator !== undefined);
  }

  /** The requirements on an administrator's session for changes. */
  get administration(): Administration {
    return this.contributions.find(({ administration }) => administration)?.administration ?? ADMINISTRATION;
  }

  isAdministrator(user: User): boolean {
    return this.contributions.some((contribution) => contribution.isAdministrator?.(user) ?? false);
  }

  /** The attributes of a user that plugins show to clients. */
  get shownOfUser(): readonly (keyof User)[] {
    return this.contributions.flatMap(({ shows }) => shows?.user ?? []);
  }

  /** The attributes of a session that plugins show to clients. */
  get shownOfSession(): readonly (keyof Session)[] {
    return this.contributions.flatMap(({ shows }) => shows?.session ?? []);
  }

  /** Waits for background work. */
  async settle(): Promise<void> {
    await this.sessions.settle();
    await this.outbox.settle();
    // Wait for the outbox first, because the app's `send` can cause events, which the audit log writes.
    await Promise.all(this.#contributions.map((contribution) => contribution.settle?.()));
  }
}
