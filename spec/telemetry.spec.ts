import { expect, test } from '@jest/globals';
import type { Telemetry } from '../lib/telemetry.js';
import { inAnotherProcess } from './support/processes.js';

const run = (action: string) =>
  inAnotherProcess([action, 'sqlite::memory:'], {
    NODE_OPTIONS: '--import ./spec/support/without-packages.mjs',
    WITHOUT: '@opentelemetry/api',
  });

const MISSING = 'Error: latchkey: telemetry needs an additional package: npm install @opentelemetry/api';

test('without the package, migrate() says what to install, and so does the log', async () => {
  expect(await run('telemetry')).toEqual({
    refused: MISSING,
    lines: [`latchkey: no telemetry is recorded ${MISSING}`],
  });
});

test('an app without telemetry does not load the package', async () => {
  expect(await run('migrate')).toContain('0001-core');
});

test('an attribute has a value of a closed set, which the compiler checks', () => {
  const record = (
    telemetry: Telemetry,
    rule: 'account' | 'signIn',
    typed: string,
    prefixed: `limit ${string}`,
  ) => {
    telemetry.refused(rule);
    // @ts-expect-error any text
    telemetry.refused(typed);
    // @ts-expect-error any text after a prefix
    telemetry.refused(prefixed);
    // @ts-expect-error any text
    telemetry.signIn(typed, 'signed_in');
    // @ts-expect-error any text
    telemetry.route(() => typed);
  };
  expect(record).toBeInstanceOf(Function);
});
