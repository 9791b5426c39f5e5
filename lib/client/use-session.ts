import { useSyncExternalStore } from 'react';
import { LOADING, type SessionState, type SessionStore } from './session-store.js';
import type { AnyShape } from './shape.js';

/**
 * Returns the current session, and renders the component again when it changes. On a server, and until the first
 * response, its status is `loading`.
 */
export function useSession<S extends AnyShape>(client: {
  readonly session: SessionStore<S>;
}): SessionState<S> {
  const { get, subscribe } = client.session;
  return useSyncExternalStore(subscribe, get, () => LOADING);
}
