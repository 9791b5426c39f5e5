import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rows } from '../support/database.js';
import { setLimits } from '../support/limits.js';
import { app, newPerson, startWays, stopWays } from '../support/ways-in.js';
import { cellsOf } from '../support/ways-in-table.js';

/** Every way in, tried again and again. */
const ATTEMPTS = 25;
beforeAll(async () => {
  await startWays({}, { rateLimit: {} });
  setLimits(app.auth, { passkeyOptions: { limit: 10, window: 60 } });
});
afterAll(stopWays);

const forget = () => rows(app.database, 'DELETE FROM rate_limits');

describe('attempts without end', () => {
  test.each(cellsOf('limits'))('$name: $outcome', async ({ way, outcome }) => {
    await forget();
    const { wrong, right, repeat = wrong?.[0] ?? right } = await way(await newPerson());
    await forget();
    let code = '';
    for (let attempt = 0; attempt < ATTEMPTS && !/limit/.test(code); attempt++) code = await repeat();
    expect(/limit/.test(code) ? code : 'unlimited').toBe(outcome);
    // The proof does not help while it lasts.
    if (/account|rate_limited/.test(outcome)) expect(await right()).toBe(outcome);
  });
});
