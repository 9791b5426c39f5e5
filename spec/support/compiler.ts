import { fileURLToPath } from 'node:url';

/**
 * Options for TypeScript 7. It has four checkers otherwise, and each works out the types that it shares with the others: over
 * all of lib, they take twice the processor's time.
 */
export const ONE_CHECKER = ['--checkers', '1'] as const;

/** The arguments with which Node runs the TypeScript compiler of the checkout. */
export const TSC = [
  fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url)),
  ...ONE_CHECKER,
] as const;
