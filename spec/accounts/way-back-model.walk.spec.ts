import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SEED, tryInputs } from '../fuzz/property.js';
import { plans, Story, startModel } from '../support/way-back-model.js';

// More runs, of other stories each time: LATCHKEY_SPEC_STORIES=3000 npm test -- spec/accounts/way-back-model
const given = process.env.LATCHKEY_SPEC_STORIES;
const limits = given === undefined ? { runs: 100, seed: SEED } : { runs: Number(given) };

let model: Awaited<ReturnType<typeof startModel>>;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model.app.stop());

test(
  'whatever thieves, a stranger and support do in any order, the owner gets back in, and the others do not',
  async () => {
    const property = fc.asyncProperty(plans, (plan) => new Story(model.app, model.mails, plan).tell());
    const { inputs, violation } = await tryInputs(
      { name: 'the way back', runs: limits.runs, property: property as never },
      limits,
    );
    expect(violation).toBeNull();
    expect(inputs).toBe(limits.runs);
  },
  given === undefined ? 120_000 : 3_600_000,
);
