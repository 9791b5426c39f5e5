import { fileURLToPath } from 'node:url';

/**
 * The options that make TypeScript 7 take half of the processor's time: it has four checkers otherwise, and each works out
 * the types that it shares with the others.
 */
export const ONE_CHECKER = ['--checkers', '1'] as const;

/** The arguments with which Node runs the TypeScript compiler of the checkout. */
export const TSC = [
  fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url)),
  ...ONE_CHECKER,
] as const;
