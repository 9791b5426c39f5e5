// Runs files of specs in a few processes that live as long as there are files for them. Jest's own runner loads
// and compiles all modules again for each file, which takes longer than most files.
//
// A file whose name has the word `process` has a process for itself.
import { SpecProcess } from './spec-process.mjs';
import { weightOf, wordsOf } from './weight.mjs';

/** Whether every file has a process for itself, so that a file that needs another one fails. */
const EACH_ALONE = process.env.LATCHKEY_SPEC_ALONE === '1';

export default class Runner {
  #config;

  constructor(globalConfig) {
    this.#config = globalConfig;
  }

  async runTests(tests, watcher, onStart, onResult, onFailure) {
    const queues = new Queues(tests);
    const work = async () => {
      let project = null;
      let process = null;
      const end = async () => {
        await process?.end();
        process = null;
      };
      while (!watcher.isInterrupted()) {
        const test = queues.next(project);
        if (!test) break;
        const isAlone = EACH_ALONE || wordsOf(test).includes('process');
        if (project !== test.context.config || isAlone) await end();
        project = test.context.config;
        process ??= new SpecProcess(project);
        await onStart(test);
        try {
          await onResult(test, await process.run(test, this.#config));
        } catch (error) {
          await onFailure(test, { message: error.message, stack: error.stack });
        }
        if (isAlone || process.isWorn) await end();
      }
      await end();
    };
    await Promise.all(Array.from({ length: this.#config.maxWorkers }, work));
  }
}

/** The files that wait, by project. */
class Queues {
  #waiting = new Map();
  #processes = new Map();

  constructor(tests) {
    for (const { context } of tests) this.#waiting.set(context.config, []);
    for (const test of tests) this.#waiting.get(test.context.config).push(test);
  }

  /** Takes the next file of a project; if there is none, of the project whose processes have most to do. */
  next(project) {
    const own = this.#waiting.get(project) ?? [];
    if (own.length > 0) return own.shift();
    this.#count(project, -1);
    const share = ([config, tests]) =>
      tests.reduce((sum, test) => sum + weightOf(test), 0) / (1 + (this.#processes.get(config) ?? 0));
    const [config, tests] = [...this.#waiting].sort((a, b) => share(b) - share(a))[0];
    this.#count(config, 1);
    return tests.shift();
  }

  #count(project, change) {
    this.#processes.set(project, (this.#processes.get(project) ?? 0) + change);
  }
}
