import { inspect } from 'node:util';
import type { Transaction } from 'sequelize';
import { slicesOf } from '../database/batches.js';
import type { Database } from '../database/database.js';
import type { Log } from '../logger.js';
import { CORE, Declarations, type Owner } from '../owners.js';
import { inMicrotask } from '../timers.js';
import type { NewEntry } from './rows.js';

/** The client that caused an event, if known. */
export interface ClientInfo {
  /** The client's IP address. */
  readonly ip: string | null;
  /** The client's user agent. */
  readonly userAgent: string | null;
}

/**
 * Why a passkey was refused:
 *
 * - `browser`: the request does not come from the browser that got the options, or its cookie is missing or ambiguous
 * - `challenge`: the options were used already, have expired, or were for something else
 * - `unknown`: no account has the passkey
 * - `owner`: the passkey belongs to another account
 * - `origin`: the page has another origin or domain, or is in a frame of another site
 * - `user_verification`: the authenticator has not verified the user
 * - `signature`: the signature is wrong
 * - `backup`: the passkey could be copied before, and now says that it cannot be
 * - `counter`: the counter of a passkey that cannot be copied has gone back
 * - `malformed`: the response is wrong in another way
 */
export type PasskeyRefusalReason = (typeof PASSKEY_REFUSAL_REASONS)[number];

/** The values of {@link PasskeyRefusalReason}. */
export const PASSKEY_REFUSAL_REASONS = [
  'browser',
  'challenge',
  'unknown',
  'owner',
  'origin',
  'user_verification',
  'signature',
  'backup',
  'counter',
  'malformed',
] as const;

/**
 * The payload of each event, without {@link ClientInfo}. Plugins add their events here and with {@link declareEvents}.
 */
export interface EventDetails {
  /** An account was created. */
  'user.created': { readonly userId: string };
  /** A user's email was verified for the first time. */
  'user.email_verified': { readonly userId: string };
  /** Fields or the username of a user changed; `changed` lists their attributes. */
  'user.updated': { readonly userId: string; readonly changed: readonly string[] };
  /** A user's email was replaced, or an account without an email got one. */
  'user.email_changed': { readonly userId: string };
  /** An account was deleted. */
  'user.deleted': { readonly userId: string };
  /** A session was created. */
  'session.created': { readonly userId: string; readonly sessionId: string };
  /**
   * A session was revoked before it expired. `reason` is `limit` if a new session of the user has ended it because of
   * `session.maxPerUser`. It is absent otherwise. `actorId` is the administrator who acted as the user in the session. It is
   * absent for the user's own sessions.
   */
  'session.revoked': {
    readonly userId: string;
    readonly sessionId: string;
    readonly reason?: 'limit';
    readonly actorId?: string;
  };
  /**
   * A sign-in or a reauthentication failed. `userId` is null if the account is unknown or does not exist. `provider` is
   * the provider's id; it is absent if a password was wrong. `method` is set if an emailed code was wrong: `email_code`
   * for a code after a correct password, `email` for the code of an emailed sign-in. `reason` is set if a passkey was
   * refused.
   */
  'sign_in.failed': {
    readonly userId: string | null;
    readonly provider?: string;
    readonly method?: 'email_code' | 'email';
    readonly reason?: PasskeyRefusalReason;
  };
  /**
   * A password was rejected without a check, after too many wrong passwords. One of the processes emits this once for
   * each pause. `userId` is null if the account does not exist.
   */
  'sign_in.throttled': { readonly userId: string | null };
  /**
   * A limit per IP address rejected requests. `count` is their number within a minute, as counted by one process.
   * `limit` is the limit's name in `rateLimit`. `ip` is null if the requests came from several addresses. Webhooks do
   * not get this event.
   */
  'rate_limit.refused': { readonly limit: string; readonly count: number; readonly ip: string | null };
  /**
   * Emails to addresses that no account has proven wait in the outbox, because `rateLimit.strangers` is reached. `count`
   * is the number of emails since the last event, as counted by one process, which emits the event at most once a minute.
   * Webhooks do not get this event.
   */
  'mail.held': { readonly count: number };
}

/**
 * Every event and its payload: ids, and the IP address and user agent of the request that caused it, if known. Payloads
 * never contain secrets.
 */
export type AuthEvents = { readonly [N in keyof EventDetails]: ClientInfo & EventDetails[N] };

/** The name of an event. */
export type AuthEventName = keyof AuthEvents;
/** A listener for `auth.on`. Its return value is ignored, and a promise is not awaited. */
export type AuthEventListener<N extends AuthEventName> = (event: AuthEvents[N]) => unknown;

/** Marks a detail that lists names of the user's fields. An export contains the names of the fields that it contains. */
export const NAMES_OF_FIELDS = Symbol('names of fields');

/** Whether the export of a user's data contains a detail of an event, or the reason why not. */
type DetailInExport = true | typeof NAMES_OF_FIELDS | string;

type DetailsInExport<N extends AuthEventName> = {
  readonly [D in Exclude<keyof EventDetails[N], 'userId'>]-?: DetailInExport;
};

/** Every event that has been declared, including events of plugins that are not in the config. */
export const declaredEvents = new Declarations<Readonly<Record<string, DetailInExport>>>('event');

/** Declares events. Their owner calls this when its module is loaded. */
export function declareEvents(
  owner: Owner | null,
  events: { readonly [N in AuthEventName]?: DetailsInExport<N> },
): void {
  for (const [name, details] of Object.entries(events)) declaredEvents.add(owner, name, details);
}

/** The reason why exports do not contain `adminId`. */
export const OF_ADMINISTRATOR = 'It is the id of an administrator.';
const OF_NO_USER = 'Events with this detail are not about a user.';

declareEvents(CORE, {
  'user.created': {},
  'user.email_verified': {},
  'user.updated': { changed: NAMES_OF_FIELDS },
  'user.email_changed': {},
  'user.deleted': {},
  'session.created': { sessionId: true },
  'session.revoked': { sessionId: true, reason: true, actorId: OF_ADMINISTRATOR },
  'sign_in.failed': { provider: true, method: true, reason: true },
  'sign_in.throttled': {},
  'rate_limit.refused': { limit: OF_NO_USER, count: OF_NO_USER, ip: OF_NO_USER },
  'mail.held': { count: OF_NO_USER },
});

/**
 * Events that are not written to the outbox, because they are about requests of attackers, who could fill it, and belong
 * to no change.
 */
const NOT_STORED: ReadonlySet<AuthEventName> = new Set(['rate_limit.refused', 'mail.held']);

/** Whether webhooks can get an event. */
export function isForWebhooks(name: AuthEventName): boolean {
  return !NOT_STORED.has(name);
}

/** @throws TypeError on an unknown name. @param where the option or call that contains the name, for the message */
export function checkEventName(name: unknown, where = ''): asserts name is AuthEventName {
  if (declaredEvents.has(name)) return;
  const prefix = where && `${where}: `;
  throw new TypeError(
    `latchkey: ${prefix}there is no event ${inspect(name)}; listen to one of ${declaredEvents.names.join(', ')}`,
  );
}

/** Stores events in the outbox, from where they are sent to their receivers. */
export interface EventRecorder {
  /** Whether an event has any receiver. */
  takes(name: AuthEventName): boolean;
  /** Stores an event as a part of the transaction; without a transaction, at the end of the call. */
  record(name: AuthEventName, event: object, transaction: Transaction | undefined): void;
  /** Returns the entries that an event would store, for an event that has not happened and is not sent. */
  pretended(name: AuthEventName): readonly NewEntry[];
}

/** The number of events that one transaction stores. */
const MOST_AT_ONCE = 500;

/** Notifies listeners. A listener that throws, rejects or hangs does not affect the caller. */
export class Events {
  readonly #listeners = new Map<AuthEventName, Set<AuthEventListener<never>>>();
  #recorder: EventRecorder | undefined;
  readonly #forAll: ((name: AuthEventName, event: AuthEvents[AuthEventName]) => unknown)[] = [];

  constructor(
    private readonly database: Database,
    private readonly log: Log,
  ) {}

  /**
   * Adds a listener. Returns the function that removes it.
   *
   * @throws TypeError on an unknown name, and on a listener that is not a function
   */
  on<N extends AuthEventName>(name: N, listener: AuthEventListener<N>): () => void {
    checkEventName(name);
    if (typeof listener !== 'function') {
      throw new TypeError(
        `latchkey: auth.on('${name}', …): the listener must be a function, not ${inspect(listener)}`,
      );
    }
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Adds a listener to all events. */
  onAny(listener: (name: AuthEventName, event: AuthEvents[AuthEventName]) => unknown): void {
    this.#forAll.push(listener);
  }

  /**
   * Emits an event about a change, or about something that changes nothing. Listeners are notified after the
   * transaction is committed; if the call joins a transaction of the app, after the app's commit.
   *
   * @param transaction the transaction of the change, so that either both are stored or neither is
   * @throws TypeError if the event has not been declared
   */
  emit<N extends AuthEventName>(name: N, details: EventDetails[N], transaction?: Transaction): void {
    const event = this.#eventOf(name, details);
    this.#recorder?.record(name, event, transaction);
    const { background } = this.database.context;
    this.database.afterCommit(transaction, () => {
      for (const notifying of this.#notify(name, event)) background.add(notifying);
    });
  }

  /**
   * Emits an event that webhooks do not get, and that is not about a change. Resolves when all listeners are done.
   *
   * @throws TypeError if the event has not been declared
   */
  async emitAndWait<N extends AuthEventName>(name: N, details: EventDetails[N]): Promise<void> {
    await Promise.all(this.#notify(name, this.#eventOf(name, details)));
  }

  /**
   * Emits many events of one change. Only the first events are stored with the change. The others are stored in the
   * background after it, so that a large number of events does not delay the change.
   */
  emitAll<N extends AuthEventName>(
    name: N,
    all: readonly EventDetails[N][],
    transaction?: Transaction,
  ): void {
    declaredEvents.require(name);
    for (const details of all.slice(0, MOST_AT_ONCE)) this.emit(name, details, transaction);
    const others = all.slice(MOST_AT_ONCE);
    if (others.length === 0) return;
    const { context } = this.database;
    const { client } = context;
    const later = async () => {
      for await (const some of slicesOf(others)) for (const details of some) this.emit(name, details);
    };
    this.database.afterCommit(transaction, () =>
      context.background.add(context.detached(() => context.forClient(client, later))),
    );
  }

  /**
   * Makes a change that is a single statement, and emits its events. It uses a transaction only if an event is stored.
   *
   * @param names the events that `work` can emit
   * @param transaction the transaction to join, if there is one
   */
  together<T>(
    names: readonly AuthEventName[],
    work: (transaction?: Transaction) => Promise<T>,
    transaction?: Transaction,
  ): Promise<T> {
    for (const name of names) declaredEvents.require(name);
    const isStored = names.some((name) => this.#recorder?.takes(name));
    return isStored && !transaction ? this.database.transaction(work) : work(transaction);
  }

  /**
   * Returns the entries that an event would store, for an event that has not happened. Storing them hides that the
   * event has not happened.
   */
  pretended(name: AuthEventName): readonly NewEntry[] {
    declaredEvents.require(name);
    return this.#recorder?.pretended(name) ?? [];
  }

  /** Stores later events with a recorder. */
  recordWith(recorder: EventRecorder): void {
    this.#recorder = recorder;
  }

  #eventOf<N extends AuthEventName>(name: N, details: EventDetails[N]): AuthEvents[N] {
    declaredEvents.require(name);
    const { ip = null, userAgent } = this.database.context.client;
    // Freeze the event, because all listeners and the audit log get the same object. TypeScript cannot infer a spread
    // of `N`.
    return Object.freeze({ ip, userAgent, ...details }) as unknown as AuthEvents[N];
  }

  /**
   * Calls the listeners in a microtask, where they cannot break the caller's work, but run before the code that awaits
   * this work continues.
   */
  #notify<N extends AuthEventName>(name: N, event: AuthEvents[N]): Promise<void>[] {
    const listeners = (this.#listeners.get(name) ?? []) as Iterable<AuthEventListener<N>>;
    return [
      ...Array.from(listeners, (listener) => () => listener(event)),
      ...this.#forAll.map((listener) => () => listener(name, event)),
    ].map((tell) => inMicrotask(() => this.#call(name, tell)));
  }

  async #call(name: AuthEventName, tell: () => unknown): Promise<void> {
    try {
      // Run the listener detached, because its own calls are not calls of this client.
      await this.database.context.detached(async () => tell());
    } catch (error) {
      this.log.error('listener.failed', `a listener for '${name}' failed`, { cause: name, err: error });
    }
  }
}
