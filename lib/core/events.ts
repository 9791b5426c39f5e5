import { inspect } from 'node:util';
import type { CallContext } from '../context/call.js';
import type { Logger } from '../logger.js';

/** Who made the request in which an event happened, as far as it is known. */
export interface ClientInfo {
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** What each event says besides who made the request. Plugins add theirs, here and by {@link declareEvents}. */
export interface EventDetails {
  'user.created': { readonly userId: string };
  'user.email_verified': { readonly userId: string };
  'session.created': { readonly userId: string; readonly sessionId: string };
  'session.revoked': { readonly userId: string; readonly sessionId: string };
  /** `userId` is null where there is no such account. */
  'sign_in.failed': { readonly userId: string | null };
  /** The account's attempts are paused, and the password was not checked. `userId` is null where there is no such account. */
  'sign_in.throttled': { readonly userId: string | null };
}

/**
 * Every event and its payload: ids, and the address and user agent of the request in which it happened, as far as they
 * are known. Never a secret.
 */
export type AuthEvents = { readonly [N in keyof EventDetails]: ClientInfo & EventDetails[N] };

/** The name of an event. */
export type AuthEventName = keyof AuthEvents;
/** What `auth.on` calls. What it returns does not matter; a promise is not waited for. */
export type AuthEventListener<N extends AuthEventName> = (event: AuthEvents[N]) => unknown;

const names = new Set<string>();

/** Makes events known to `auth.on`: those of a plugin, when its module is loaded. */
export function declareEvents<const N extends AuthEventName>(...declared: N[]): void {
  for (const name of declared) names.add(name);
}

declareEvents(
  'user.created',
  'user.email_verified',
  'session.created',
  'session.revoked',
  'sign_in.failed',
  'sign_in.throttled',
);

/** Tells listeners what happened. A listener that throws, rejects or hangs changes nothing for the caller. */
export class Events {
  readonly #listeners = new Map<AuthEventName, Set<AuthEventListener<never>>>();
  readonly #forAll: ((name: AuthEventName, event: AuthEvents[AuthEventName]) => unknown)[] = [];

  constructor(
    private readonly context: CallContext,
    private readonly logger: Logger,
  ) {}

  /**
   * Adds a listener. Returns the function that removes it.
   *
   * @throws TypeError on an unknown name, and on a listener that is not a function
   */
  on<N extends AuthEventName>(name: N, listener: AuthEventListener<N>): () => void {
    if (!names.has(name)) {
      throw new TypeError(
        `latchkey: there is no event ${inspect(name)}; listen to one of ${[...names].join(', ')}`,
      );
    }
    if (typeof listener !== 'function') {
      throw new TypeError(
        `latchkey: auth.on('${name}', …) needs a function to call, not ${inspect(listener)}`,
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

  emit<N extends AuthEventName>(name: N, details: EventDetails[N]): void {
    const { ip = null, userAgent } = this.context.client;
    // One object for all: no listener can change what the others and the audit log are told.
    const event = Object.freeze({ ip, userAgent, ...details }) as unknown as AuthEvents[N];
    const listeners = this.#listeners.get(name) as Set<AuthEventListener<N>> | undefined;
    for (const listener of listeners ?? []) {
      // Outside the caller's own work, which nothing may break, but before whoever awaits that work goes on.
      queueMicrotask(() => this.#call(name, () => listener(event)));
    }
    for (const listener of this.#forAll) queueMicrotask(() => this.#call(name, () => listener(name, event)));
  }

  async #call(name: AuthEventName, tell: () => unknown): Promise<void> {
    try {
      // What a listener does, it does not do for the client of this call.
      await this.context.detached(async () => tell());
    } catch (error) {
      this.logger.error(`latchkey: a listener of '${name}' failed`, error);
    }
  }
}
