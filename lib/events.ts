import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import type { Logger } from './logger.js';

/** Where a request came from, as far as it is known. */
export interface ClientInfo {
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** What each event tells beside who sent the request. */
interface EventDetails {
  'user.created': { readonly userId: string };
  'user.email_verified': { readonly userId: string };
  'session.created': { readonly userId: string; readonly sessionId: string };
  'session.revoked': { readonly userId: string; readonly sessionId: string };
  /** `userId` is null where no such account exists. */
  'sign_in.failed': { readonly userId: string | null };
  /** An account's pause was on, and the password was not looked at. `userId` is null where no such account exists. */
  'sign_in.throttled': { readonly userId: string | null };
  'password.changed': { readonly userId: string };
  'password.reset': { readonly userId: string };
  'account.linked': { readonly userId: string; readonly provider: string };
  'account.unlinked': { readonly userId: string; readonly provider: string };
  'tokens.read': { readonly userId: string; readonly provider: string };
  'tokens.refreshed': { readonly userId: string; readonly provider: string };
  'api_key.created': { readonly userId: string; readonly apiKeyId: string };
  'api_key.revoked': { readonly userId: string; readonly apiKeyId: string };
  'admin.sessions_revoked': { readonly userId: string; readonly adminId: string | null };
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

// By the interface, so that none is forgotten.
const EVENT_NAMES: Readonly<Record<AuthEventName, true>> = {
  'user.created': true,
  'user.email_verified': true,
  'session.created': true,
  'session.revoked': true,
  'sign_in.failed': true,
  'sign_in.throttled': true,
  'password.changed': true,
  'password.reset': true,
  'account.linked': true,
  'account.unlinked': true,
  'tokens.read': true,
  'tokens.refreshed': true,
  'api_key.created': true,
  'api_key.revoked': true,
  'admin.sessions_revoked': true,
};

/** Tells listeners what happened. A listener that throws, rejects or hangs changes nothing for the caller. */
export class Events {
  readonly #clients = new AsyncLocalStorage<ClientInfo>();
  readonly #listeners = new Map<AuthEventName, Set<AuthEventListener<never>>>();
  readonly #forAll: ((name: AuthEventName, event: AuthEvents[AuthEventName]) => unknown)[] = [];

  constructor(private readonly logger: Logger) {}

  /**
   * Adds a listener. Returns the function that takes it away again.
   *
   * @throws TypeError on a name that is none, and on a listener that is no function
   */
  on<N extends AuthEventName>(name: N, listener: AuthEventListener<N>): () => void {
    if (!Object.hasOwn(EVENT_NAMES, name)) {
      const names = Object.keys(EVENT_NAMES).join(', ');
      throw new TypeError(`latchkey: there is no event ${inspect(name)}; listen to one of ${names}`);
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

  /** Runs work for a request: what it emits tells of the client. */
  within<T>(client: ClientInfo, work: () => Promise<T>): Promise<T> {
    return this.#clients.run({ ip: client.ip, userAgent: client.userAgent }, work);
  }

  emit<N extends AuthEventName>(name: N, details: EventDetails[N] & Partial<ClientInfo>): void {
    const event = { ip: null, userAgent: null, ...this.#clients.getStore(), ...details } as AuthEvents[N];
    // One object for all: no listener can change what the others and the audit log are told.
    Object.freeze(event);
    const listeners = this.#listeners.get(name) as Set<AuthEventListener<N>> | undefined;
    for (const listener of listeners ?? []) {
      // Not within the caller's own work, which nothing may break; but before whoever waits for that goes on.
      queueMicrotask(() => this.#call(name, () => listener(event)));
    }
    for (const listener of this.#forAll) queueMicrotask(() => this.#call(name, () => listener(name, event)));
  }

  async #call(name: AuthEventName, tell: () => unknown): Promise<void> {
    try {
      await tell();
    } catch (error) {
      this.logger.error(`latchkey: a listener of '${name}' failed`, error);
    }
  }
}
