import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuth, twoFactor } from '../../../lib/index.js';
import {
  ada,
  memoryLogger,
  password,
  SECRET,
  type SpecApp,
  sessionCookie,
  startApp,
} from '../../support/app.js';
import { rows } from '../../support/database.js';
import { loggingSequelize } from '../../support/statements.js';
import {
  codeOf,
  firstStep,
  forgetSteps,
  type Protected,
  secondStep,
  withSecondFactor,
} from '../../support/two-factor.js';

// What is stored and logged of second factors, and how many statements a sign-in with one sends.
const plugins = [password(), twoFactor()] as const;
let app: SpecApp<typeof plugins>;
let statements: string[] = [];
let owner: Protected;
beforeAll(async () => {
  app = await startApp({
    plugins,
    tables: {},
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return { database: own.sequelize };
    },
  });
  owner = await withSecondFactor(app);
});
afterAll(() => app.stop());
beforeEach(() => forgetSteps(app));

const sent = () =>
  statements.filter(
    (line) =>
      /^Executed/.test(line) &&
      /\b(SELECT|INSERT|UPDATE|DELETE)\b/.test(line) &&
      !/VERSION\(\)|SHOW SERVER_VERSION/i.test(line),
  );

test('each step of a sign-in in a known browser sends at most five statements, and one more for a recovery code', async () => {
  const browser = app.browser();
  await firstStep(browser).expect(200);
  const known = await secondStep(browser, { method: 'totp', code: codeOf(owner.secret) }).expect(200);
  const device = `latchkey-device=${sessionCookie(known, 'latchkey-device')?.value}`;
  for (const method of ['totp', 'recovery_code']) {
    await forgetSteps(app);
    statements.length = 0;
    const { email: credential, password } = ada;
    const first = await app.http
      .post('/auth/signin/credential')
      .set('cookie', device)
      .send({ credential, password })
      .expect(200);
    expect(sent()).toHaveLength(3);
    statements.length = 0;
    const pending = `latchkey-pending=${sessionCookie(first, 'latchkey-pending')?.value}`;
    const code = method === 'totp' ? codeOf(owner.secret) : owner.recoveryCodes[9];
    await app.http
      .post('/auth/signin/second-factor')
      .set('cookie', `${device}; ${pending}`)
      .send({ method, code })
      .expect(200);
    expect(sent()).toHaveLength(method === 'totp' ? 5 : 6);
  }
});

describe('secrets', () => {
  test('are neither in the database nor in any log', async () => {
    const browser = app.browser();
    const first = await firstStep(browser).expect(200);
    const pending = String(sessionCookie(first, 'latchkey-pending')?.value);
    const typed = codeOf(owner.secret);
    await secondStep(browser, { method: 'recovery_code', code: 'wrong-code-of-mine' }).expect(401);
    await secondStep(browser, { method: 'totp', code: typed }).expect(200);
    const begun = (await browser.post('/auth/two-factor/totp').expect(201)).body;
    const renewed = (await browser.post('/auth/two-factor/recovery-codes').expect(200)).body.recovery_codes;
    const secrets = [
      ...[owner.secret, begun.secret, pending, pending.slice(4), 'wrong-code-of-mine', 'wrongcodeofmine'],
      ...[...owner.recoveryCodes, ...renewed].flatMap((code: string) => [code, code.replaceAll('-', '')]),
    ];
    const tables = [
      'users',
      'sessions',
      'totp_secrets',
      'totp_enrolments',
      'recovery_codes',
      'unfinished_sign_ins',
    ];
    const contents = await Promise.all(tables.map((table) => rows(app.database, `SELECT * FROM ${table}`)));
    const stored = JSON.stringify(contents, (_key, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
    );
    const logged = [...statements, ...app.log].join('\n');
    expect(logged).toContain('totp_secrets');
    for (const secret of secrets) {
      expect(stored).not.toContain(secret);
      expect(logged).not.toContain(secret);
    }
    expect(logged).not.toContain(`'${typed}'`);
    // Not even what is encrypted: it would be readable for whoever has the config.
    expect(logged).not.toMatch(/v1\.[\w-]{8}\./);
    owner = { ...owner, recoveryCodes: renewed };
  });

  test('are re-encrypted when the secret of the config is replaced', async () => {
    const next = 'another secret for specs, of 32 bytes and more';
    const config = { database: app.database.url, plugins, rateLimit: false as const, logger: memoryLogger() };
    const rotating = createAuth({ ...config, secret: [next, SECRET] });
    expect(await rotating.rotateSecrets({ dryRun: true })).toBe(1);
    expect(await rotating.rotateSecrets()).toBe(1);
    expect(await rotating.rotateSecrets()).toBe(0);
    await rotating.close();
    const rotated = createAuth({ ...config, secret: next });
    const code = codeOf(owner.secret);
    const issued = await rotated.completeSignIn({
      pendingToken: await signInWith(rotated),
      method: 'totp',
      code,
    });
    expect(issued.session.aal).toBe(2);
    await rotated.close();
    // Without the secret, recovery codes are left.
    const lost = createAuth({ ...config, secret: `${next} that is lost` });
    const pendingToken = await signInWith(lost);
    const again = codeOf(owner.secret, 1);
    await expect(lost.completeSignIn({ pendingToken, method: 'totp', code: again })).rejects.toMatchObject({
      code: 'unavailable',
    });
    const [recoveryCode] = owner.recoveryCodes;
    await lost.completeSignIn({ pendingToken, method: 'recovery_code', code: recoveryCode });
    await lost.close();
  });
});

async function signInWith(auth: Pick<typeof app.auth, 'credential'>): Promise<string> {
  const signedIn = await auth.credential.signIn({ credential: ada.email, password: ada.password });
  if (!('secondFactor' in signedIn)) throw new Error('no second factor');
  return signedIn.secondFactor.pendingToken;
}
