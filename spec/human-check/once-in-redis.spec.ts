import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import type { AuthConfig } from '../../lib/index.js';
import { password, type SpecApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { signUps, signUpWith } from '../support/human.js';
import { startMailApp } from '../support/mail-app.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(config: Partial<AuthConfig<never>>) {
  const app = await startMailApp({ plugins: [password()], config: config as object });
  ends.push(app.stop);
  return app as unknown as SpecApp<never>;
}

// The server that run.mjs found; empty if there is none.
const REDIS_URL = process.env.LATCHKEY_SPEC_REDIS ?? '';

(REDIS_URL ? test : test.skip)('with counters in Redis, tokens are remembered there', async () => {
  const tablePrefix = `spec_${randomBytes(6).toString('hex')}_`;
  const app = await start({
    tablePrefix,
    rateLimit: { store: REDIS_URL, signUp: false, mailAddress: false },
    humanCheck: { verify: () => true },
  });
  expect(await signUps(app, () => 'a token')).toEqual({ 201: 1, 403: 15 });
  expect(await rows(app.database, `SELECT * FROM ${tablePrefix}rate_limits`)).toEqual([]);
});

test('if Redis does not respond, the check fails, and onFailure decides', async () => {
  const nobody = { eval: () => new Promise(() => undefined) } as never;
  const rateLimit = { store: nobody, signUp: false, mailAddress: false, signIn: false } as const;
  const verify = () => true;
  const refusing = await start({ rateLimit, humanCheck: { verify } });
  const { headers } = await signUpWith(refusing, 'a token').expect(503);
  expect(headers['retry-after']).toBe('5');
  const accepting = await start({ rateLimit, humanCheck: { verify, onFailure: 'accept' } });
  await signUpWith(accepting, 'a token').expect(201);
  expect((await accepting.auth.health()).degraded).toContain('human_check');
});
