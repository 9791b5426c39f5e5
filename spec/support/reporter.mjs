// Prints a line for each file of specs as it ends, and everything about those that failed. What passing specs and the
// packages that they use write to the console is not shown.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

export default class Reporter {
  #done = 0;

  onTestResult(test, result, totals) {
    const failed = result.numFailingTests > 0 || result.testExecError !== undefined;
    const seconds = ((result.perfStats.end - result.perfStats.start) / 1000).toFixed(1);
    const count = `${++this.#done}/${totals.numTotalTestSuites}`.padStart(8);
    const outcome = failed ? 'FAILED' : result.skipped || result.numPassingTests === 0 ? 'not run' : 'passed';
    console.log(`${count}  ${outcome.padEnd(7)}  ${relative(process.cwd(), test.path)} (${seconds} s)`);
    if (!failed) return;
    for (const { type, message } of result.console ?? []) console.log(`console.${type}: ${message}`);
    console.log(result.failureMessage);
  }

  /** Writes the totals to the file that run.mjs names. */
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const totals = { passed: results.numPassedTests, failed };
    if (process.env.LATCHKEY_SPEC_TOTALS) {
      writeFileSync(process.env.LATCHKEY_SPEC_TOTALS, JSON.stringify(totals));
    }
  }
}
