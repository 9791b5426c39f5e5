import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { publicRoute } from '../../lib/index.js';
import { password, type SpecApp, startApp } from '../support/app.js';

let app: SpecApp<[ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp({
    plugins: [password()],
    mount: (express) =>
      void express.get(
        '/pricing',
        publicRoute('anyone can read the prices'),
        (_req, res) => void res.send('9.99'),
      ),
  });
});
afterAll(() => app.stop());

test('publicRoute lets every request continue', async () => {
  const response = await app.browser().get('/pricing');
  expect([response.status, response.text]).toEqual([200, '9.99']);
});

test.each([[''], [' '], [undefined]])('publicRoute rejects the reason %j', (reason) => {
  expect(() => publicRoute(reason as string)).toThrow(/^latchkey: publicRoute requires a reason/);
});
