// One round of specs: on the database that LATCHKEY_SPEC_DATABASE names, with the Express that
// LATCHKEY_SPEC_EXPRESS names; or, as LATCHKEY_SPEC_FILES says, those that use the demo, the guides or the npm package as
// a user does (e2e), or the examples. `npm test` runs the rounds.
const express = process.env.LATCHKEY_SPEC_EXPRESS ?? '5';
const firstRound = (process.env.LATCHKEY_SPEC_DATABASE ?? 'sqlite') === 'sqlite' && express === '5';
// What depends on neither database nor Express runs in one round only; what does not depend on Express, not with Express 4.
const ignored = [
  '\\.once\\.spec\\.ts$',
  'spec/learned-from/',
  ...(express === '4' ? ['spec/(config|core|crypto|database|limits|mail|migrations|models|ways-in)\\b'] : []),
];
const FILES = {
  e2e: { testMatch: ['**/*.e2e.spec.ts'], ignore: ['<rootDir>/spec/examples/'] },
  examples: { testMatch: ['**/spec/examples/*.e2e.spec.ts'], ignore: [] },
  '': { testMatch: ['**/!(*.e2e).spec.ts'], ignore: firstRound ? [] : ignored },
};
const { testMatch, ignore } = FILES[process.env.LATCHKEY_SPEC_FILES ?? ''];

export default {
  roots: ['<rootDir>/spec'],
  testMatch,
  testPathIgnorePatterns: ignore,
  transform: { '\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    ...(express === '4' && { '^express$': 'express4' }),
  },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  reporters: ['<rootDir>/spec/support/reporter.mjs'],
  testTimeout: 30_000,
  // Many specs wait for a time to pass or for another process, so three keep two cores busy.
  maxWorkers: 3,
  // The modules of a finished file stay in memory, so a worker that has grown is replaced.
  workerIdleMemoryLimit: '1GB',
};
