import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ofRoutes } from './all.js';
import { SEED, tryInputs } from './property.js';
import { World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await World.start();
});
afterAll(() => world.stop());

test('the app answers hostile requests, passkeys and connections, and lives on', async () => {
  expect(world.operations.length).toBeGreaterThan(50);
  for (const one of ofRoutes(world)) {
    const { violation } = await tryInputs(one, { runs: one.runs, seed: SEED });
    if (violation !== null) throw new Error(`${one.name}: ${violation}`);
  }
}, 120_000);
