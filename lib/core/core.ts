import type { Transaction } from 'sequelize';
import type { Settings } from '../config/settings.js';
import type { CallContext, PlainRequest } from '../context/call.js';
import type { SecretBox } from '../crypto/secret-box.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type { Mailer } from '../mail/mailer.js';
import type { MailTemplate } from '../mail/message.js';
import type { Columns } from '../models/column.js';
import { devices } from '../models/device.js';
import { oneTimeTokens } from '../models/one-time-token.js';
import { type Session, sessions } from '../models/session.js';
import { Table, type TableDeclaration } from '../models/table.js';
import type { User } from '../models/user.js';
import type { Carrier } from './authentication.js';
import { type ClientInput, forClientOf, type TransactionOption } from './client-input.js';
import type { Contribution, Purpose } from './contribution.js';
import { Devices } from './devices.js';
import type { Events } from './events.js';
import { OneTimeTokens } from './one-time-tokens.js';
import { type Attached, ProofOfEmail } from './proof-of-email.js';
import { type IssuedSession, Sessions } from './sessions.js';
import { type CheckedSignIn, type Proof, SignIn, type SignInOptions } from './sign-in.js';
import { SignUp } from './sign-up.js';
import type { AccountRow, UserRecord } from './user-record.js';
import { UserStorage } from './user-storage.js';
import { UserUpdates } from './user-updates.js';
import { WaysIn } from './ways-in.js';

// A browser sends one, or two if another subdomain has set a cookie with the same name.
const MAX_CARRIED_SESSIONS = 2;

/** The services that plugins, routes and guards share. */
export class Core extends UserStorage {
  /** Makes accounts. */
  readonly signUp: SignUp;
  /** Changes them. */
  readonly updates: UserUpdates;
  readonly sessions: Sessions;
  readonly tokens: OneTimeTokens;
  readonly waysIn: WaysIn;
  readonly devices: Devices;
  /** In the order in which they are tried. */
  readonly carriers: readonly Carrier[];
  readonly #contributions: readonly Contribution[];
  readonly gate: SignIn;
  readonly proofs: ProofOfEmail;

  /**
   * @param columnsOfPlugins the plugins' additional columns of users
   * @param carriersOf creates the carriers of sessions
   * @param setUp sets up the plugins; their contributions are not used before it returns
   */
  constructor(
    readonly settings: Settings,
    readonly context: CallContext,
    readonly database: Database,
    readonly events: Events,
    readonly limiter: Limiter,
    /** Null if `email` is not configured. */
    readonly mailer: Mailer | null,
    /** Encrypts secrets that must be readable later. */
    readonly box: SecretBox,
    columnsOfPlugins: readonly Columns[],
    carriersOf: (sessions: Pick<Sessions, 'find'>) => readonly Carrier[],
    setUp: (core: Core) => readonly Contribution[],
  ) {
    super(database, settings, columnsOfPlugins);
    const contributions = () => this.#contributions;
    const tokens = this.table(oneTimeTokens);
    const tables = {
      users: this.users.table,
      sessions: this.table(sessions),
      devices: this.table(devices),
    };
    this.sessions = new Sessions(database, tables, this.selections.shown, settings, events);
    this.signUp = new SignUp(database, this.users, this.fields, settings);
    this.updates = new UserUpdates(context, this.users, settings.hooks);
    this.devices = new Devices(database, tables.devices, context, settings.logger, (request) =>
      this.carriers.flatMap((carrier) => carrier.deviceTokens?.(request) ?? []),
    );
    this.gate = new SignIn(
      tables.sessions,
      this.sessions,
      this.devices,
      settings,
      database.clock,
      context,
      events,
      contributions,
      this.users,
      (request) => this.sessionTokens(request),
    );
    this.proofs = new ProofOfEmail(
      database.clock,
      this.users,
      this.updates,
      this.sessions,
      tokens,
      tables.devices,
      events,
      contributions,
    );
    this.tokens = new OneTimeTokens(database, tokens, this.users, this.proofs, contributions);
    this.waysIn = new WaysIn(database, this.users, contributions);
    this.#contributions = setUp(this);
    this.tokens.checkPurposes();
    this.carriers = [
      ...this.#contributions.flatMap(({ carriers = [] }) => carriers),
      ...carriersOf(this.sessions),
    ];
  }

  /** Gives access to a table. */
  table<C extends Columns>(declaration: TableDeclaration<C>): Table<C> {
    return new Table(this.database, declaration);
  }

  /** Runs `work` for the client, and in the transaction, given in the input of a programmatic call. */
  forClient<T>(input: ClientInput, work: () => Promise<T>): Promise<T> {
    return this.inTransaction(input.transaction, () => forClientOf(this.context, input, work));
  }

  /** Runs `work` as a part of the app's transaction, if one is given: see {@link Database.join}. */
  inTransaction<T>(transaction: TransactionOption['transaction'], work: () => Promise<T>): Promise<T> {
    return this.database.join(transaction, work);
  }

  /** Creates a session: see {@link SignIn}. @throws AuthError if a plugin's check rejects the user */
  signIn(proof: Proof, options?: SignInOptions): Promise<IssuedSession> {
    return this.gate.begin(proof, options);
  }

  /** Like {@link signIn}, in two steps: for a session that is created in the same transaction as another change. */
  checkSignIn(
    record: Pick<Proof, 'user' | 'account' | 'row'>,
    options?: SignInOptions,
  ): Promise<CheckedSignIn> {
    return this.gate.check(record, options);
  }

  /** Emails a one-time token to a user: see {@link OneTimeTokens.mail}. */
  mailToken(template: MailTemplate, purpose: Purpose, user: User | null): void {
    if (this.mailer) this.tokens.mail(this.mailer, template, purpose, user);
  }

  /** The session tokens that a request carries, valid or not. */
  sessionTokens(request: PlainRequest): readonly string[] {
    const tokens = this.carriers.flatMap((carrier) => carrier.sessionTokens(request));
    return [...new Set(tokens)].slice(0, MAX_CARRIED_SESSIONS);
  }

  /**
   * Makes a lasting change to a user's account, such as adding a way to sign in. The user's row is locked, and the
   * requesting session must still be active, so that a request in flight cannot undo a password reset or a revoke-all.
   *
   * @param sessionId the requesting session; null for programmatic calls
   * @throws AuthError `user_not_found`, `invalid_session`; what a plugin's check of the account throws
   */
  inNameOf<T>(
    userId: string,
    sessionId: string | null,
    work: (transaction: Transaction, record: UserRecord) => Promise<T>,
  ): Promise<T> {
    return this.database.transaction(async (transaction) => {
      const record = await this.users.lock(userId, transaction);
      if (!record) throw new AuthError('user_not_found');
      if (
        sessionId !== null &&
        !(await this.sessions.isStillOpen(sessionId, record.authEpoch, transaction))
      ) {
        throw new AuthError('invalid_session');
      }
      this.checkAccount(record.account);
      return work(transaction, record);
    });
  }

  /**
   * Marks a user's email as verified because the app says so, in a transaction of its own: see {@link ProofOfEmail}.
   *
   * @param spare what to keep, because the person has shown that it is theirs
   * @throws AuthError `user_not_found` if there is no such user, or none with an email
   */
  async proveEmail(userId: string, spare: readonly Attached[]): Promise<User> {
    const proved = await this.database.transaction(async (transaction) => {
      const record = await this.users.lock(userId, transaction);
      if (!record?.user.email) throw new AuthError('user_not_found');
      return this.proofs.record(record, 'app', spare, transaction);
    });
    this.proofs.announce(proved);
    return proved.record.user;
  }

  /**
   * Refuses a person who has just shown who they are, if a plugin's check does, such as that for suspended accounts. Every
   * way in calls it after the proof, and never before.
   *
   * @throws AuthError such as `account_suspended`
   */
  checkAccount(account: AccountRow): void {
    for (const contribution of this.#contributions) contribution.checkAccount?.(account);
  }

  /** What plugins contribute. Complete once all are set up. */
  get contributions(): readonly Contribution[] {
    return this.#contributions;
  }

  /** Whether a plugin defines administrators. */
  get hasAdministrators(): boolean {
    return this.#contributions.some(({ isAdministrator }) => isAdministrator !== undefined);
  }

  isAdministrator(user: User): boolean {
    return this.#contributions.some((contribution) => contribution.isAdministrator?.(user) ?? false);
  }

  /** The attributes of a user that plugins show to clients. */
  get shownOfUser(): readonly (keyof User)[] {
    return this.#contributions.flatMap(({ shows }) => shows?.user ?? []);
  }

  /** The attributes of a session that plugins show to clients. */
  get shownOfSession(): readonly (keyof Session)[] {
    return this.#contributions.flatMap(({ shows }) => shows?.session ?? []);
  }

  /** Deletes expired rows. @returns the number of rows */
  async prune(): Promise<number> {
    return (await this.sessions.prune()) + (await this.tokens.prune()) + (await this.devices.prune());
  }

  /** Waits for background work. */
  async settle(): Promise<void> {
    await this.sessions.settle();
    await this.mailer?.settle();
    // After the mailer: the app's `send` may cause events, which the audit log writes.
    await Promise.all(this.#contributions.map((contribution) => contribution.settle?.()));
  }
}
