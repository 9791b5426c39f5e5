import { declareProblems } from '../../errors.js';

const problems = declareProblems({
  email_missing: [409, 'This user has no email address to send a link to.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
