/** Runs `work` at the first call. Later calls return the same outcome. */
export function once<T extends object>(work: () => T): () => T {
  let outcome: T | undefined;
  return () => {
    outcome ??= work();
    return outcome;
  };
}
