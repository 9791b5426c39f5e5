import { declareProblems } from '../../errors.js';

const problems = declareProblems({
  invalid_callback_url: [
    400,
    'callback_url must be a path of this app or a URL of an origin that it trusts.',
  ],
  invalid_flow: [
    400,
    'This sign-in was not begun in this browser, is already over, or took too long. Begin again.',
  ],
  access_denied: [403, 'The sign-in at the provider was declined.'],
  account_not_linked: [404, 'You have no account linked at this provider.'],
  provider_not_found: [404, 'There is no such provider here.'],
  account_exists: [409, 'An account with this email exists already. Sign in to it, then link this provider.'],
  account_linked_elsewhere: [409, 'This account is linked to another user.'],
  provider_already_linked: [409, 'Another account of this provider is linked. Unlink it first.'],
  refresh_token_missing: [409, 'The provider gave no refresh token for this account.'],
  relink_required: [409, 'These tokens cannot be used any more. Link the account again.'],
  provider_error: [502, 'The provider did not answer as it should. Try again later.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
