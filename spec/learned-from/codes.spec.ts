import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Secret } from 'otpauth';
import type { Response } from 'supertest';
import { internalsOf } from '../../lib/auth.js';
import { twoFactor } from '../../lib/index.js';
import { password, type SpecApp, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';
import { codeOf, firstStep, secondStep, withSecondFactor, wrongCode } from '../support/two-factor.js';

// What contributing/learned-from.md says of codes: of an authenticator app, and for recovery.
let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof twoFactor>]>;
beforeEach(async () => {
  app = await startApp({ plugins: [password(), twoFactor()] });
});
afterEach(() => app.stop());

let people = 0;
/** A user with a second factor, whose codes are all unused. */
async function person() {
  const account = { email: `person-${++people}@example.com`, password: 'an analytical engine' };
  earlyInAStep();
  const { browser, secret, recoveryCodes } = await withSecondFactor(app, account);
  const signIn = async () => {
    const client = app.browser();
    return { client, answer: await firstStep(client, account) };
  };
  /** Signs in with the password, and gives this code. */
  const give = async (code: string, method = 'totp') => secondStep((await signIn()).client, { method, code });
  const code = (steps = 0) => codeOf(secret, stepOf(now()) - stepOf(Date.now()) + steps);
  return { ...account, browser, secret, code, wrong: wrongCode(secret), codes: recoveryCodes, signIn, give };
}
const STEP_MS = 30_000;
const stepOf = (ms: number) => Math.floor(ms / STEP_MS);
const now = () => internalsOf(app.auth).core.database.clock.now();
/** Goes on to the next step where the current one is about to end, which must not happen within a test. */
const earlyInAStep = () => {
  const left = STEP_MS - (now() % STEP_MS);
  if (left < 20_000) advance(app.auth, left / 1000);
};
const refused = (answer: Response) => expectProblem(answer, 401, 'invalid_code');

describe('a code is taken once', () => {
  test('CVE-2015-7225: one that was used signs nobody in again', async () => {
    const { code, give } = await person();
    const used = code();
    expect((await give(used)).status).toBe(200);
    refused(await give(used));
  });

  test('CVE-2021-43177: nor in the interval that follows its own', async () => {
    const { code, give } = await person();
    const previous = code(-1);
    expect((await give(previous)).status).toBe(200);
    refused(await give(previous));
    // Nor does an earlier one that was never used, once a later one was.
    expect((await give(code())).status).toBe(200);
    await give(code(-1)).then(refused);
  });

  test('CVE-2022-25838: nor for another purpose: it is used up wherever it was given', async () => {
    const { browser, code, give } = await person();
    const used = code();
    await browser.post('/auth/reauthenticate').send({ code: used }).expect(204);
    refused(await give(used));
    refused(await browser.post('/auth/reauthenticate').send({ code: used }));
  });
});

describe('what is stored', () => {
  test('CVE-2024-8796, CVE-2021-23127: a secret has 160 random bits', async () => {
    const secrets = [(await person()).secret, (await person()).secret];
    for (const secret of secrets) expect(Secret.fromBase32(secret).bytes.length * 8).toBe(160);
    expect(secrets[0]).not.toBe(secrets[1]);
  });

  test('CVE-2020-15105: nothing of the password waits for the second step, in the database or in the cookie', async () => {
    const { email, signIn } = await person();
    const { answer } = await signIn();
    expect(answer.body.second_factor).toBeDefined();
    const [{ password_hash: hash = '' } = {}] = await rows<{ password_hash: string }>(
      app.database,
      'SELECT password_hash FROM users WHERE email = :email',
      { email },
    );
    const pending = await rows(app.database, 'SELECT * FROM unfinished_sign_ins');
    expect(pending).toHaveLength(1);
    const texts = [JSON.stringify(pending), answer.text, JSON.stringify(answer.headers)];
    for (const text of texts) {
      expect(text).not.toContain('analytical');
      expect(text).not.toContain(Buffer.from('an analytical engine').toString('base64').slice(0, 20));
      expect(text).not.toContain(hash.slice(-20));
    }
    const cookies = (answer.headers['set-cookie'] as unknown as string[]).join('\n');
    const token = /=([\w-]{20,})/.exec(cookies)?.[1] ?? '';
    expect(token.length).toBeGreaterThan(20);
    expect(JSON.stringify(pending)).not.toContain(token);
  });
});
