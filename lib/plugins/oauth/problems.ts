import { declareProblems } from '../../errors.js';

const problems = declareProblems({
  invalid_flow: [
    400,
    'This sign-in was not started in this browser, is already complete, or took too long. Start again.',
  ],
  access_denied: [403, 'The sign-in at the provider was declined. Start again, and accept there.'],
  sign_up_incomplete: [
    403,
    'The provider did not give everything that an account needs. Sign up in another way.',
  ],
  account_not_linked: [404, 'You have not linked an account at this provider. Link one first.'],
  provider_not_found: [404, 'There is no such provider: check its id.'],
  account_exists: [409, 'An account with this email already exists. Sign in to it, then link this provider.'],
  account_linked_elsewhere: [
    409,
    'This account is linked to another user. Sign in as that user and unlink it first.',
  ],
  provider_already_linked: [409, 'Another account at this provider is already linked. Unlink it first.'],
  refresh_token_missing: [
    409,
    'The provider issued no refresh token for this account. Link the account again.',
  ],
  relink_required: [409, 'These tokens can no longer be used. Link the account again.'],
  provider_error: [502, 'The provider did not respond as expected. Try again later.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
