// One round of specs: on the database that LATCHKEY_SPEC_DATABASE names, with the Express that
// LATCHKEY_SPEC_EXPRESS names; or, as LATCHKEY_SPEC_FILES says, those that build latchkey, or use the demo, the
// guides, the command line or the npm package as a user does (e2e), or the examples. `npm test` runs the rounds.
const express = process.env.LATCHKEY_SPEC_EXPRESS ?? '5';
const database = process.env.LATCHKEY_SPEC_DATABASE ?? 'sqlite';
const files = process.env.LATCHKEY_SPEC_FILES || (express === '5' ? database : 'express4');

// What depends on neither the database nor Express runs in one round only.
const once = ['\\.once\\.spec\\.ts$', 'spec/learned-from/'];
// What does not depend on the database: requests, responses, rules of the core, and what is sent to others.
const anyDatabase = [
  'spec/(config|crypto|guards|http|mail|testing|ways-in)/(?!take-over)',
  'spec/previous-systems/(auth-js|better-auth|express-session|jwt|rolling-move)\\b',
  'spec/sessions/(bearer|cookie|origin|second-factor-rules|stuffing|unknown-browser\\.spec)\\b',
  'spec/outbox/webhook',
  'spec/limits/(account|address|password-limits|redis-store)\\b',
  'spec/plugins/credential-password/(identifier|password-rules|rules|username-pattern)\\b',
  'spec/plugins/oauth/(callback-url|client|discovery|keys|new-user|providers|revocation|sloppy)\\b',
  'spec/faults/invariants\\b',
  // Of the routes, only those that concurrent requests could use twice.
  'spec/(plugins/[^/]+/)?routes/(?!callback\\.spec|passwords-reset|sessions|signin)',
  'spec/plugins/passkeys/(account|clients|fuzz|relying-party)\\b',
  'spec/plugins/two-factor/(account|attempts)\\b',
  // Pages use the database only through routes and calls of an Auth, which have specs of their own.
  'spec/pages/(account|administration|entrance|assets|guards|mounts|odd-requests|return-to|security)\\b',
  'spec/(ways-in|asvs|errors|logger|logs|mass-assignment|nodemailer|plugin|router|router-mount)\\.spec\\.ts$',
];
const ROUNDS = {
  sqlite: { testMatch: ['**/!(*.e2e).spec.ts'], ignore: [] },
  mysql: { testMatch: ['**/!(*.e2e).spec.ts'], ignore: [...once, ...anyDatabase] },
  postgres: { testMatch: ['**/!(*.e2e).spec.ts'], ignore: [...once, ...anyDatabase] },
  express4: {
    testMatch: [
      '**/spec/{guards,http,routes}/*.spec.ts',
      '**/spec/sessions/{bearer,cookie,origin}.spec.ts',
      '**/spec/plugins/*/{guards,routes/*}.spec.ts',
      '**/spec/pages/{assets,guards,mailed-links,mounts,odd-requests,security}.spec.ts',
      '**/spec/{errors,mass-assignment,outage,plugin,router,router-mount}.spec.ts',
    ],
    ignore: [...once, '\\.e2e\\.spec\\.ts$', 'spec/http/take-over-kept\\b'],
  },
  e2e: { testMatch: ['**/*.e2e.spec.ts'], ignore: ['<rootDir>/spec/examples/'] },
  examples: { testMatch: ['**/spec/examples/*.e2e.spec.ts'], ignore: [] },
};
const { testMatch, ignore } = ROUNDS[files];

export default {
  roots: ['<rootDir>/spec'],
  // Outlives the folder for temporary files.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testMatch,
  testPathIgnorePatterns: ignore,
  // Source maps of their own: at the end of the code, they would be read with it for each file of specs.
  transform: {
    '\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, sourceMaps: true },
    ],
  },
  extensionsToTreatAsEsm: ['.ts'],
  resolver: '<rootDir>/spec/support/resolver.mjs',
  moduleNameMapper: express === '4' ? { '^express$': 'express4' } : {},
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  setupFiles: ['<rootDir>/spec/support/contexts.mjs'],
  reporters: ['<rootDir>/spec/support/reporter.mjs'],
  // Of a test that hangs. On a busy machine, some take half a minute.
  testTimeout: 120_000,
  // Many specs wait for a time to pass or for another process, so four keep two cores busy.
  maxWorkers: 4,
  // The modules of a finished file stay in memory, so a worker that has grown is replaced.
  workerIdleMemoryLimit: '1GB',
};
