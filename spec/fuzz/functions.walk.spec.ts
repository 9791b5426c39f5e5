import { test } from '@jest/globals';
import { ofFunctions } from './all.js';
import { SEED, tryInputs } from './property.js';

test.each(ofFunctions.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
  const { violation } = await tryInputs(one, { runs: one.runs, seed: SEED });
  if (violation !== null) throw new Error(violation);
});
