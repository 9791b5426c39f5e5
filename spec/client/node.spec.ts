import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { METHODS } from './methods.js';
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
  const calls = METHODS.map((method) => ({
    ...method,
    found: called.filter(({ request }) => method.request.test(request)),
  }));
  expect(calls.filter(({ found }) => found.length === 0).map(({ name }) => name)).toEqual([]);
  // Without the mark, the session store of the client would not ask again.
  const renewing = calls.filter(({ found }) => found.some(({ hasToken }) => hasToken));
  expect(renewing.length).toBeGreaterThan(10);
  expect(renewing.filter(({ isOfSession }) => !isOfSession).map(({ name }) => name)).toEqual([]);
});
