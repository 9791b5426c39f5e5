// The words in the name of a file of specs say where it runs. `npm test` runs the project `specs`.
//
//   x.spec.ts           on SQLite, with Express 5
//   x.express.spec.ts   also with Express 4: it depends on how Express treats requests, responses and errors
//   x.db.spec.ts        also on MariaDB (or MySQL) and PostgreSQL: it depends on their SQL, locks, types or errors. The statements
//                       of every route run there anyway, in plans.db.walk.spec.ts
//   x.walk.spec.ts      in the project `walks`, not in `specs`: it goes through a table of routes, runs a model, a storm or
//                       processes, and takes longer than other specs
//   x.e2e.spec.ts       uses the demo, the guides, the examples, the command line or the npm package as a user does
//   x.process.spec.ts   in a process of its own, because it changes what others use
const named = (...words) => words.map((word) => `/[^/.]+\\.(\\w+\\.)*${word}\\.(\\w+\\.)*spec\\.ts$`);

/** The project of each kind of specs, and what it gives to the processes that run its files. */
const PROJECTS = {
  specs: { ignore: named('walk', 'e2e') },
  walks: { files: named('walk') },
  express4: { files: named('express'), env: { LATCHKEY_SPEC_EXPRESS: '4' } },
  mysql: { files: named('db'), env: onServer('mysql') },
  postgres: { files: named('db'), env: onServer('postgres') },
  // They install packages, which can need more memory than there is.
  e2e: { files: named('e2e'), env: { TMPDIR: process.env.TMPDIR ?? '/tmp' } },
};
const run = (process.env.LATCHKEY_SPEC_PROJECTS ?? 'specs').split(',');

function onServer(database) {
  return {
    LATCHKEY_SPEC_DATABASE: database,
    LATCHKEY_SPEC_URL: process.env[`LATCHKEY_SPEC_${database.toUpperCase()}`] ?? '',
  };
}

export default {
  projects: run.map((name) => {
    const { files = ['\\.spec\\.ts$'], ignore = [], env = {} } = PROJECTS[name];
    return {
      displayName: name,
      roots: ['<rootDir>/spec'],
      // Outlives the folder for temporary files.
      cacheDirectory: '<rootDir>/node_modules/.cache/jest',
      testRegex: files,
      testPathIgnorePatterns: ignore,
      modulePathIgnorePatterns: ['<rootDir>/dist'],
      transform: {},
      runner: '<rootDir>/spec/support/runner/runner.mjs',
      testEnvironmentOptions: { env: { TMPDIR: process.env.LATCHKEY_SPEC_MEMORY, ...env } },
    };
  }),
  testSequencer: '<rootDir>/spec/support/runner/sequencer.mjs',
  reporters: ['<rootDir>/spec/support/reporter.mjs'],
  // Of a test that hangs. On a busy machine, some take half a minute.
  testTimeout: 120_000,
  // Many specs wait for a process or a database, so three keep two cores busy. A fourth only adds to the memory and to the
  // CPU time.
  maxWorkers: 3,
};
