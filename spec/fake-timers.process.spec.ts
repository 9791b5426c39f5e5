import { mock } from 'node:test';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { User } from '../lib/index.js';
import { ada, type SpecApp, startApp } from './support/app.js';

// In this process, as in Vitest's, Jest's fake timers replace the functions of `node:timers` too.
describe.each([
  ['Jest', () => void jest.useFakeTimers(), () => void jest.useRealTimers()],
  ['node:test', () => mock.timers.enable(), () => mock.timers.reset()],
])('with the fake timers of %s', (_runner, fake, restore) => {
  let app: SpecApp<readonly []>;
  let user: User;
  let cookie: string;
  beforeAll(async () => {
    app = (await startApp()) as never;
    user = (await app.auth.users.create({ email: ada.email })) as never;
    cookie = `latchkey=${(await app.auth.createSession(user.id)).token}`;
  });
  afterEach(restore);
  afterAll(() => app.stop());

  const idOfUser = async () => (await app.auth.getSession({ headers: { cookie } })).user.id;

  test('sessions are found, one after the other and at the same time', async () => {
    fake();
    for (let time = 0; time < 4; time++) expect(await idOfUser()).toBe(user.id);
    const many = await Promise.all(Array.from({ length: 40 }, idOfUser));
    expect(many).toEqual(Array.from({ length: 40 }, () => user.id));
    restore();
    expect(await idOfUser()).toBe(user.id);
  });

  test('sessions are created and ended', async () => {
    fake();
    const { token } = await app.auth.createSession(user.id);
    const headers = { cookie: `latchkey=${token}` };
    expect((await app.auth.getSession({ headers })).user.id).toBe(user.id);
    await app.auth.revokeAllSessions(user.id);
    await expect(app.auth.getSession({ headers })).rejects.toMatchObject({ code: 'invalid_session' });
  });
});
