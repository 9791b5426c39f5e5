/** @internal */
export type Signal = AbortSignal | null | undefined;

/**
 * Throws the reason of an aborted signal, like `AbortSignal.throwIfAborted`. React Native before 0.87 has neither this
 * method nor the reason, so the given error is thrown there.
 *
 * @internal
 */
export function throwIfAborted(signal: Signal, error: unknown): void {
  if (signal?.aborted) throw signal.reason ?? error;
}

/**
 * Calls a function when one of the signals is aborted, even if it is aborted already. Returns a function that removes
 * the listeners.
 *
 * @internal
 */
export function onAbort(signals: readonly Signal[], listener: () => void): () => void {
  for (const signal of signals) {
    if (signal?.aborted) listener();
    signal?.addEventListener('abort', listener);
  }
  return () => {
    for (const signal of signals) signal?.removeEventListener('abort', listener);
  };
}
