import { afterEach, expect, test } from '@jest/globals';
import { createAuth, credentialPassword, type PasswordRuleOptions } from '../../../lib/index.js';
import { ada, password, SECRET } from '../../support/app.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { expectProblem } from '../../support/problem.js';

let app: MailApp<readonly [ReturnType<typeof password>]> | undefined;
const environment = process.env.NODE_ENV;
afterEach(async () => {
  process.env.NODE_ENV = environment;
  await app?.stop();
  app = undefined;
});

async function start(passwordRules: PasswordRuleOptions) {
  const started = await startMailApp({ plugins: [password({ passwordRules })] });
  app = started;
  return started;
}

test.each([
  [{ minLength: 12 }, 'eleven char', 'too_short', 'must have at least 12 characters'],
  [{ minLength: 12 }, '🐙'.repeat(11), 'too_short', 'must have at least 12 characters'],
  [{ minLength: 12 }, 'qwertyuiop12', 'password_too_common', 'is one of the most common passwords'],
  [{ minLength: 4 }, 'qzx', 'too_short', 'must have at least 4 characters'],
  [{ minLength: 4 }, '1234', 'password_too_common', 'is one of the most common passwords'],
  [{ words: ['Acme'] }, 'acme2026', 'password_too_common', 'easy to guess here'],
  [{ words: ['acme'] }, '!4CM3-26!', 'password_too_common', 'easy to guess here'],
  [{ words: ['acme', 'acme corp'] }, 'Acme Corp ACME 1', 'password_too_common', 'easy to guess here'],
  [{ words: ['ﬁrm'], common: false }, 'FIRM firm', 'password_too_common', 'easy to guess here'],
  [{ common: false }, 'short', 'too_short', 'must have at least 8 characters'],
  [{ common: false }, ada.email, 'password_is_identifier', 'must not be your email'],
])('passwordRules: %j refuses %j', async (rules, given, code, detail) => {
  const { http } = await start(rules);
  const answer = await http.post('/auth/signup/credential').send({ ...ada, password: given });
  const [error] = expectProblem(answer, 422, 'validation_failed').errors ?? [];
  expect(error).toMatchObject({ pointer: '/password', code });
  expect(error?.detail).toContain(detail);
});

test.each([
  [{ minLength: 12 }, 'twelve chars'],
  [{ minLength: 4 }, 'qzxw'],
  [{ minLength: 1, common: false }, 'a'],
  [{ common: false }, 'password'],
  [{ words: ['acme'] }, 'acme and nine lives'],
  [{ words: ['acme'] }, 'ac me 2026'],
])('passwordRules: %j accepts %j, which signs in', async (rules, given) => {
  const { http } = await start(rules);
  await http
    .post('/auth/signup/credential')
    .send({ ...ada, password: given })
    .expect(201);
  await http.post('/auth/signin/credential').send({ credential: ada.email, password: given }).expect(200);
});

test('the rules hold for changes and resets too', async () => {
  const { http, browser, mailOf } = await start({ minLength: 12 });
  await http.post('/auth/signup/credential').send(ada).expect(201);
  const signedIn = browser();
  await signedIn
    .post('/auth/signin/credential')
    .send({ credential: ada.email, password: ada.password })
    .expect(200);
  const tooShort = {
    pointer: '/new_password',
    code: 'too_short',
    detail: 'must have at least 12 characters',
  };
  const changed = await signedIn
    .post('/auth/passwords/change')
    .send({ current_password: ada.password, new_password: 'eleven char' });
  expect(expectProblem(changed, 422, 'validation_failed').errors).toEqual([tooShort]);
  const { token } = await mailOf(() =>
    http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
  );
  const reset = await http.post('/auth/passwords/reset').send({ token, new_password: 'eleven char' });
  expect(expectProblem(reset, 422, 'validation_failed').errors).toEqual([tooShort]);
});

const auth = (passwordRules: object) =>
  createAuth({
    database: 'sqlite:./never.db',
    secret: SECRET,
    plugins: [credentialPassword({ passwordRules })],
  });

test('in production, minLength is at least 8', () => {
  process.env.NODE_ENV = 'production';
  expect(() => auth({ minLength: 7 })).toThrow(
    'latchkey: credentialPassword: passwordRules.minLength must be at least 8 in production',
  );
  auth({ minLength: 8, common: false });
  process.env.NODE_ENV = 'development';
  auth({ minLength: 7 });
});

test('the OpenAPI document states the rules of each new password', () => {
  const text = JSON.stringify(auth({ minLength: 15 }).openapi());
  expect(text.match(/15 to 256 characters, and not a common password/g)?.length).toBeGreaterThanOrEqual(3);
  expect(JSON.stringify(auth({ common: false }).openapi())).toContain('"8 to 256 characters"');
});
