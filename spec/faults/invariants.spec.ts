import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createToken } from '../../lib/crypto/token.js';
import { apiKeys, twoFactor } from '../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { dialect, rows } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';

const plugins = () => [password({ username: true }), apiKeys(), twoFactor()] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
beforeEach(async () => {
  app = await startApp({ plugins: plugins() });
  const browser = await signedIn(app);
  await browser.post('/auth/api-keys').send({ name: 'nightly import' }).expect(201);
});
afterEach(() => app.stop());

const allowOrphans = {
  sqlite: 'PRAGMA foreign_keys = OFF',
  mysql: 'ALTER TABLE sessions DROP FOREIGN KEY sessions_user_id_fk',
  postgres: 'ALTER TABLE sessions DROP CONSTRAINT sessions_user_id_fk',
}[dialect];

describe('the checker of the invariants', () => {
  test('finds nothing where nothing is wrong', async () => {
    expect(await brokenInvariants(app.database, { secrets: [ada.password] })).toEqual([]);
  });

  test.each<[what: RegExp, change: string]>([
    [/no way in/, 'UPDATE users SET password_hash = NULL, email = NULL'],
    [/not canonical/, "UPDATE users SET email = 'Ada@Example.com'"],
    [
      /has verified no email/,
      "UPDATE users SET email = NULL, email_verified_at = updated_at, email_proof = 'app'",
    ],
    [
      /proved an email in part/,
      "UPDATE users SET email_proof = 'mailbox', email_verified_at = updated_at, mailbox_proved_at = NULL",
    ],
    [/proved an email in part/, 'UPDATE users SET email_verified_at = updated_at'],
    [/is no hash/, "UPDATE users SET password_hash = 'as it was typed'"],
    [/sessions\.user_agent: a secret/, `UPDATE sessions SET user_agent = 'x ${createToken('lks_')}'`],
    [/api_keys\.name: a secret/, `UPDATE api_keys SET name = 'x ${ada.password}'`],
    [/ends before it begins/, 'UPDATE sessions SET expires_at = created_at'],
    [/an epoch that/, 'UPDATE sessions SET auth_epoch = 5'],
    [
      /without the second factor/,
      `INSERT INTO recovery_codes (code_hash, user_id) SELECT token_hash, user_id FROM sessions`,
    ],
    [
      /no recovery codes/,
      `INSERT INTO totp_secrets (user_id, secret, last_step, wrong_codes, confirmed_at)
       SELECT user_id, 'sealed', 0, 0, created_at FROM sessions`,
    ],
  ])('finds %s', async (what, change) => {
    await rows(app.database, change);
    const broken = await brokenInvariants(app.database, { secrets: [ada.password] });
    expect(broken.join('\n')).toMatch(what);
    expect(broken).toHaveLength(1);
  });

  test('finds rows without their user', async () => {
    await rows(app.database, allowOrphans);
    await rows(app.database, 'UPDATE sessions SET user_id = :other', { other: randomUUID() });
    expect((await brokenInvariants(app.database)).join()).toMatch(/sessions: a row without its user/);
  });
});
