/** The entry point `latchkey/testing`: an Auth for tests, and users who are signed in. */
export type { MailFilter } from './testing/mailbox.js';
export {
  type OrganizationForTest,
  type SecondFactorForTest,
  type SignedInForTest,
  type SignedInOptions,
  signedIn,
} from './testing/signed-in.js';
export type { Testing } from './testing/test-auth.js';
export { type TestAuth, type TestAuthOptions, testAuth } from './testing/test-auth.js';
