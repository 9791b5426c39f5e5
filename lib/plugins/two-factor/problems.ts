import { declareProblems } from '../../errors.js';

const problems = declareProblems({
  invalid_code: [401, 'The code is wrong or was already used. Enter the one that your app shows now.'],
  sign_in_expired: [401, 'This sign-in took too long, or has been completed already. Start again.'],
  totp_not_enabled: [409, 'Codes of an authenticator app are not switched on for this account.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
