// Prints a line for each file of specs as it ends, with how long it took and the CPU time of its process and of those that
// it started, and everything about those that failed. What passing specs and the packages that they use write to the
// console is not shown.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

export default class Reporter {
  #done = 0;
  #seed;
  /** How many specs have passed and failed, by project. */
  #counts = new Map();

  constructor({ seed }) {
    this.#seed = seed;
  }

  onRunStart() {
    console.log(`The order of the files is that of --seed ${this.#seed}`);
  }

  onTestResult(test, result, totals) {
    const project = test.context.config.displayName.name;
    const failed = result.numFailingTests > 0 || result.testExecError !== undefined;
    const seconds = ((result.perfStats.end - result.perfStats.start) / 1000).toFixed(1);
    // A file whose process ended has none.
    const cpu = result.cpu?.toFixed(1) ?? '?';
    const count = `${++this.#done}/${totals.numTotalTestSuites}`.padStart(9);
    const outcome = failed ? 'FAILED' : result.numPassingTests === 0 ? 'not run' : 'passed';
    console.log(
      `${count}  ${outcome.padEnd(7)}  ${project.padEnd(8)}  ${relative(process.cwd(), test.path)} (${seconds} s, ${cpu} s of CPU)`,
    );
    const { passed, failures } = this.#counts.get(project) ?? { passed: 0, failures: 0 };
    this.#counts.set(project, {
      passed: passed + result.numPassingTests,
      failures: failures + Math.max(result.numFailingTests, failed ? 1 : 0),
    });
    if (failed) console.log(result.failureMessage);
  }

  /** Writes the totals to the file that run.mjs names. */
  onRunComplete(_contexts, results) {
    console.log();
    for (const [project, { passed, failures }] of this.#counts)
      console.log(`${project.padEnd(8)}  ${passed} passed, ${failures} failed`);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const totals = { passed: results.numPassedTests, failed };
    if (process.env.LATCHKEY_SPEC_TOTALS) {
      writeFileSync(process.env.LATCHKEY_SPEC_TOTALS, JSON.stringify(totals));
    }
  }
}
