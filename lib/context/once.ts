/** Returns a function that runs `work` once, and then returns its outcome, which must not be null or undefined. */
export function once<T extends object>(work: () => T): () => T {
  let outcome: T | undefined;
  return () => {
    outcome ??= work();
    return outcome;
  };
}
