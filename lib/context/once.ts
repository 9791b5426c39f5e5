/** Returns a function that runs `work` once, and then always returns its outcome, which must be an object. */
export function once<T extends object>(work: () => T): () => T {
  let outcome: T | undefined;
  return () => {
    outcome ??= work();
    return outcome;
  };
}
