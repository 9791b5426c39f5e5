// The order of the files: large ones first, because they take longest, and otherwise by the seed, so that a file that depends
// on what another one leaves behind is found. `npm test -- --seed 1` repeats an order. Those that have a process for themselves
// come before all others, so that they end no process that has loaded everything.
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';
import { weightOf, wordsOf } from './weight.mjs';

// A short file can start long work, such as an installation.
const SHORT = 8000;

export default class BySeed extends Sequencer {
  #seed;

  constructor(options) {
    super(options);
    this.#seed = options.globalConfig.seed;
  }

  sort(tests) {
    const places = new Map(tests.map((test) => [test, this.#placeOf(test)]));
    return [...tests].sort((a, b) => places.get(b) - places.get(a));
  }

  #placeOf(test) {
    const name = relative(test.context.config.rootDir, test.path);
    const chance = createHash('sha256').update(`${this.#seed} ${name}`).digest().readUInt32BE() / 2 ** 32;
    if (wordsOf(test).includes('process')) return Number.MAX_VALUE * (0.5 + chance / 2);
    return weightOf(test) * Math.max(statSync(test.path).size, SHORT) * (0.5 + chance);
  }
}
