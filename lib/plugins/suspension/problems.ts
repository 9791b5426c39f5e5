import { declareProblems } from '../../errors.js';

const problems = declareProblems({
  account_suspended: [403, 'This account is suspended. Contact the people who run this service.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
