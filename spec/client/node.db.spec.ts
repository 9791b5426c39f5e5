import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PLUGINS } from '../../lib/client/client.js';
import { CORE } from '../../lib/client/core.js';
import { PASSKEY_ROUTES } from '../../lib/client/passkeys.js';
import { phone, phoneStory } from './phone.js';
import { ADMINISTRATORS, startStoryApp } from './story-app.js';

let app: Awaited<ReturnType<typeof startStoryApp>>;
beforeAll(async () => {
  app = await startStoryApp();
});
afterAll(() => app?.stop());

test('a client with a token calls every method of a real server', async () => {
  const { client, kept, called } = phone(app.origin);
  await phoneStory(client, app.origin, ADMINISTRATORS[0] ?? '');
  expect(kept.token).toBeNull();
  const routes = [CORE, ...Object.values(PLUGINS), PASSKEY_ROUTES].flatMap((one) => Object.values(one));
  const patterns = routes.map((route) => {
    const [method, path = ''] = route.split(' ');
    return { route, pattern: new RegExp(`^${method} ${path.replace(/:\w+/g, '[^/]+')}$`) };
  });
  const missing = patterns.filter(({ pattern }) => ![...called].some((one) => pattern.test(one)));
  expect(missing.map(({ route }) => route)).toEqual([]);
});
