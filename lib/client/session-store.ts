import { onAbort, type Signal } from './abort.js';
import type { WithSession } from './generated/shapes.js';
import { type ClientError, type Result, report } from './result.js';
import type { AnyShape } from './shape.js';

/** Who is signed in, as far as the client knows. */
export type SessionState<S extends AnyShape> = Loading | SignedInState<S> | SignedOut;

interface WithLastError {
  /** Why the last refresh failed. The store keeps the state from before. */
  readonly error: ClientError | null;
}

/** The client has not received a response yet. */
export interface Loading extends WithLastError {
  readonly status: 'loading';
  readonly user: null;
  readonly session: null;
}

/** A user is signed in. */
export interface SignedInState<S extends AnyShape> extends WithSession<S>, WithLastError {
  readonly status: 'signed_in';
}

/** No user is signed in. */
export interface SignedOut extends WithLastError {
  readonly status: 'signed_out';
  readonly user: null;
  readonly session: null;
}

/**
 * The current session as a store. It asks the server when it gets its first subscriber, after calls of the client that
 * change the session in this tab or in others, and when the page becomes visible, but then at most once a minute.
 */
export interface SessionStore<S extends AnyShape> {
  /** Returns the state, which is the same object until it changes. */
  get(): SessionState<S>;
  /** Calls a function at each change. Returns a function that removes it. */
  subscribe(listener: () => void): () => void;
  /** Asks the server. Resolves to the new state. */
  refresh(): Promise<SessionState<S>>;
}

/**
 * The state on a server, and before the first response.
 *
 * @internal
 */
export const LOADING: Loading = { status: 'loading', user: null, session: null, error: null };

/** The codes that mean that the session has ended. A proxy in front of the server can send other 401 responses. */
const ENDED = /^(invalid_session|unauthenticated)$/;

const VISIBLE_MS = 60_000;

/** The parts of a browser that the store uses. Other runtimes do not have them. */
interface Runtime {
  readonly document?: {
    readonly visibilityState: string;
    addEventListener(name: 'visibilitychange', listener: () => void): void;
    removeEventListener(name: 'visibilitychange', listener: () => void): void;
  };
  readonly BroadcastChannel?: new (name: string) => Channel;
}

interface Channel {
  onmessage: (() => void) | null;
  postMessage(message: null): void;
  close(): void;
}

/** @internal */
export interface OwnSessionStore extends SessionStore<AnyShape> {
  /**
   * Updates the store after a call that might have changed the session, and informs the stores of other tabs. With
   * subscribers, it asks the server and resolves with the response or, earlier, when `signal` is aborted. The request
   * then continues, because it serves all subscribers. Without subscribers, it resets the state to `loading`, and the
   * next subscriber makes the store ask. It never rejects.
   */
  changed(signal: Signal): Promise<void>;
}

/**
 * @param load gets the user and the session
 * @param name the name by which the stores of other tabs know this one
 * @internal
 */
export function sessionStore(
  load: () => Promise<Result<{ readonly user: unknown; readonly session: unknown }>>,
  name: string,
): OwnSessionStore {
  const { document, BroadcastChannel } = globalThis as unknown as Runtime;
  const listeners = new Set<() => void>();
  let state: SessionState<AnyShape> = LOADING;
  let loaded = 0;
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  let finish = () => {};
  let requests = 0;
  let channel: Channel | null = null;

  const set = (changed: SessionState<AnyShape>) => {
    if (JSON.stringify(changed) === JSON.stringify(state)) return;
    state = changed;
    for (const listener of listeners) {
      try {
        listener();
      } catch (error) {
        report(error);
      }
    }
  };
  /**
   * Asks now. The result of a request in progress is dropped, because the server might have responded before a change.
   */
  const ask = (): Promise<void> => {
    const own = ++requests;
    loaded = Date.now();
    running ??= new Promise((resolve) => {
      finish = resolve;
    });
    void load().then(({ data, error }) => {
      if (own !== requests) return;
      running = null;
      if (data) set({ status: 'signed_in', ...data, error: null } as SignedInState<AnyShape>);
      else if (ENDED.test(error?.code ?? '')) set({ ...LOADING, status: 'signed_out' });
      else set({ ...state, error });
      finish();
    });
    return running;
  };
  /** Asks now or, if a request is in progress, after it. */
  const refresh = (): Promise<void> => {
    if (!running) return ask();
    next ??= running.then(() => {
      next = null;
      return ask();
    });
    return next;
  };
  // Browsers only: in Node, an open channel would keep the process alive.
  const open = () => (document && BroadcastChannel ? new BroadcastChannel(name) : null);
  const onVisible = () => {
    if (document?.visibilityState === 'visible' && Date.now() - loaded >= VISIBLE_MS) void refresh();
  };
  const start = () => {
    channel = open();
    if (channel) channel.onmessage = () => void ask();
    document?.addEventListener('visibilitychange', onVisible);
    void refresh();
  };
  const stop = () => {
    channel?.close();
    channel = null;
    document?.removeEventListener('visibilitychange', onVisible);
  };
  return {
    get: () => state,
    subscribe(listener) {
      // A function that is passed twice is called twice.
      const own = () => listener();
      listeners.add(own);
      if (listeners.size === 1) start();
      return () => {
        if (listeners.delete(own) && listeners.size === 0) stop();
      };
    },
    async refresh() {
      await refresh();
      return state;
    },
    async changed(signal) {
      const used = channel ?? open();
      used?.postMessage(null);
      if (used !== channel) used?.close();
      if (listeners.size > 0) {
        const asked = ask();
        return new Promise((resolve) => void asked.then(resolve).finally(onAbort([signal], resolve)));
      }
      // Without subscribers, no request corrects the state before the next subscriber reads it.
      state = LOADING;
      if (running) void ask();
    },
  };
}
