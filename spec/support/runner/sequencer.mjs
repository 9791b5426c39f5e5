// The order of the files: those that take longest first, as their names say, and otherwise by the seed, so that a file that
// depends on what another one leaves behind is found. `npm test -- --seed 1` repeats an order.
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';
import { weightOf } from './weight.mjs';

export default class BySeed extends Sequencer {
  #seed;

  constructor(options) {
    super(options);
    this.#seed = options.globalConfig.seed;
  }

  sort(tests) {
    const order = ({ path, context }) =>
      createHash('sha256')
        .update(`${this.#seed} ${relative(context.config.rootDir, path)}`)
        .digest('hex');
    return [...tests].sort((a, b) => weightOf(b) - weightOf(a) || order(a).localeCompare(order(b)));
  }
}
