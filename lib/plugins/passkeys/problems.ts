import { declareProblems } from '../../errors.js';

const problems = declareProblems({
  invalid_passkey: [
    401,
    'The passkey could not be verified, or the request for it has expired. Ask for new options and try again.',
  ],
  passkey_not_found: [404, 'You have no such passkey: it may have been removed already.'],
  passkey_exists: [409, 'This passkey is in use already. Use another device, or sign in with it.'],
  too_many_passkeys: [409, 'You have as many passkeys as are allowed. Remove one that you no longer use.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
