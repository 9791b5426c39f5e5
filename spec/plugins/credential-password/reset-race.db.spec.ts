import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { apiKeys } from '../../../lib/index.js';
import { ada, password, signedIn } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';

const plugins = [password({ sendVerificationOnSignUp: true }), apiKeys()] as const;
const ROUNDS = 5;

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({ plugins });
});
afterAll(() => app.stop());

test('a user who signed up with someone else’s address loses all API keys in a reset, even keys that are created during the reset', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const email = `owner-${round}@example.com`;
    let stranger: Awaited<ReturnType<typeof signedIn>> | undefined;
    await app.mailOf(async () => {
      stranger = await signedIn(app, { email, password: ada.password });
    });
    const { token } = await app.mailOf(() =>
      app.http.post('/auth/passwords/request-reset').send({ email }).expect(202),
    );
    let going = true;
    const makeKeys = async () => {
      while (going) await stranger?.post('/auth/api-keys').send({ name: 'left behind' });
    };
    const makers = Array.from({ length: 8 }, makeKeys);
    await app.http
      .post('/auth/passwords/reset')
      .send({ token, new_password: 'a difference engine' })
      .expect(204);
    going = false;
    await Promise.all(makers);
    const left = await rows(
      app.database,
      'SELECT k.id FROM api_keys k JOIN users u ON u.id = k.user_id WHERE u.email = :email',
      { email },
    );
    expect(left).toEqual([]);
  }
});
