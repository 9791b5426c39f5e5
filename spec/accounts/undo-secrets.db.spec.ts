import { expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET, sessionCookie, startApp } from '../support/app.js';
import { byUser } from '../support/changes.js';
import { mailbox } from '../support/mailbox.js';
import { settled } from '../support/sessions.js';

const NEXT = 'the next secret of this app, long enough';
const EVE = { email: 'eve@example.com', password: 'the words of an intruder' };

test('a change can be undone after the secret has been replaced, once its state is re-encrypted', async () => {
  const mails = mailbox();
  const config = { baseUrl: 'http://app.example.com', email: { send: mails.send } };
  const app = await startApp({ config });
  const withSecret = (secret: string | string[]) =>
    createAuth({
      ...config,
      secret,
      database: app.database.url,
      plugins: [password()],
      rateLimit: false,
      logger: memoryLogger(),
    });
  const [without, rotating] = [withSecret(NEXT), withSecret([NEXT, SECRET])];
  try {
    const { id } = await app.auth.users.create({ ...ada, emailVerified: true });
    const signIn = await app.http
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password });
    const cookie = `latchkey-device=${sessionCookie(signIn, 'latchkey-device')?.value}`;
    const request = { headers: { cookie } };
    const { token } = await mails.mailOf(ada.email, 'email-changed', () =>
      byUser(app.auth, id, (own) => app.auth.users.changeEmail(id, EVE.email, { verified: true, ...own })),
    );
    await byUser(app.auth, id, (own) => app.auth.users.setPassword(id, EVE.password, own));
    const proof = { password: ada.password, request };
    await expect(without.undoChange(token, proof)).rejects.toMatchObject({ code: 'invalid_token' });
    // The notices have been sent, and wiped.
    await settled(app.auth);
    expect(await rotating.rotateSecrets({ dryRun: true })).toBe(2);
    expect(await rotating.rotateSecrets()).toBe(2);
    expect(await rotating.rotateSecrets()).toBe(0);
    expect(await without.undoChange(token, proof)).toEqual({ undone: 'email-changed' });
    expect(await app.auth.users.get(id)).toMatchObject({ email: ada.email });
  } finally {
    await without.close();
    await rotating.close();
    await app.stop();
  }
});
