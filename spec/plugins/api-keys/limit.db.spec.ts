import { afterEach, expect, test } from '@jest/globals';
import { type ApiKeysOptions, apiKeys } from '../../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { expectProblem } from '../../support/problem.js';
import { ago, SECOND } from '../../support/sessions.js';

const pluginsWith = (options: ApiKeysOptions) => [password(), apiKeys(options)] as const;

let app: SpecApp<ReturnType<typeof pluginsWith>>;
const start = async (options: ApiKeysOptions = {}) => {
  app = await startApp({ plugins: pluginsWith(options) });
};
afterEach(() => app.stop());

test('a user has at most maxPerUser API keys, however many are created at once', async () => {
  await start({ maxPerUser: 3 });
  const browser = await signedIn(app);
  const create = (client = browser) => client.post('/auth/api-keys').send({ name: 'one' });
  const answers = await Promise.all(Array.from({ length: 12 }, () => create()));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(9);
  for (const answer of refused) expectProblem(answer, 409, 'too_many_api_keys');
  const { api_keys: keys } = (await browser.get('/auth/api-keys').expect(200)).body;
  expect(keys).toHaveLength(3);

  // An expired key still counts, since it is still listed.
  await app.auth.models.ApiKey.update({ expiresAt: ago(SECOND) }, { where: { id: keys[0].id } });
  expectProblem(await create(), 409, 'too_many_api_keys');
  await expect(app.auth.apiKeys.create(await idOf(browser), { name: 'x' })).rejects.toMatchObject({
    code: 'too_many_api_keys',
    status: 409,
  });
  await browser.delete(`/auth/api-keys/${keys[0].id}`).expect(204);
  await create().expect(201);
  expectProblem(await create(), 409, 'too_many_api_keys');

  const other = await signedIn(app, { email: 'eve@example.com', password: ada.password });
  await create(other).expect(201);
});

test('the default is 100', async () => {
  await start();
  const browser = await signedIn(app);
  const userId = await idOf(browser);
  for (let made = 0; made < 100; made++) await app.auth.apiKeys.create(userId, { name: `key ${made}` });
  expectProblem(await browser.post('/auth/api-keys').send({ name: 'one' }), 409, 'too_many_api_keys');
});

async function idOf(browser: Awaited<ReturnType<typeof signedIn>>): Promise<string> {
  return (await browser.get('/auth/me').expect(200)).body.user.id;
}
