import { expect, test } from '@jest/globals';
import { inAnotherProcess } from '../../support/processes.js';

test('without the package, everything works up to the first use, which says what to install', async () => {
  const env = {
    NODE_OPTIONS: '--import ./spec/support/without-packages.mjs',
    WITHOUT: '@simplewebauthn/server',
  };
  expect(await inAnotherProcess(['passkeyOptions', 'sqlite::memory:'], env)).toBe(
    'Error: latchkey: passkeys require an additional package: run npm install @simplewebauthn/server',
  );
});
