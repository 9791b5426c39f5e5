/** Returns a function that runs `work` once. Later calls return the same outcome, which must not be null or undefined. */
export function once<T extends object>(work: () => T): () => T {
  let outcome: T | undefined;
  return () => {
    outcome ??= work();
    return outcome;
  };
}
