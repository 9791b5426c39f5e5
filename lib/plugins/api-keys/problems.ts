import { declareProblems } from '../../errors.js';

const problems = declareProblems({
  ambiguous_credentials: [400, 'The request carries an API key and another credential; send one.'],
  invalid_api_key: [401, 'The API key has expired, was revoked, or never existed. Create a new one.'],
  api_key_not_found: [404, 'You have no such API key: it may have been revoked already.'],
  too_many_api_keys: [409, 'You have as many API keys as are allowed. Revoke one that you no longer need.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
