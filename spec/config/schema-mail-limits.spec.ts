import { describe, expect, test } from '@jest/globals';
import { createAuth, credentialPassword } from '../../lib/index.js';
import { password, SECRET } from '../support/app.js';

describe('invalid email and rateLimit options', () => {
  const email = { send: () => undefined };
  const make = (options: object, config: object = {}) =>
    createAuth({ database: 'sqlite:x.db', secret: SECRET, plugins: [password(options)], ...config });

  test.each(['requireVerifiedEmail', 'concealExistingEmails'])(
    '%s requires the email option and cannot be combined with signInOnSignUp',
    (name) => {
      expect(() => make({ [name]: true })).toThrow(`${name} requires email: { send } in the config`);
      expect(() =>
        make({ [name]: true, signInOnSignUp: true }, { email, baseUrl: 'https://a.example' }),
      ).toThrow(`${name} and signInOnSignUp are mutually exclusive`);
    },
  );

  test.each([
    [{}, /email.send must be a function/],
    [{ send: 'smtp://' }, /email.send must be a function/],
    [
      { ...email, verifyUrl: 'verify' },
      /email.verifyUrl must be a path such as \/confirm, or an absolute URL/,
    ],
    [{ ...email, resetUrl: '//b.example/reset' }, /email.resetUrl must be a path/],
    [{ ...email, resetUrl: '/\\b.example/reset' }, /email.resetUrl must be a path/],
    [{ ...email, from: 'me@example.com' }, /email.from is not an option of latchkey/],
  ])('email: %j throws a TypeError', (given, message) => {
    expect(() => make({}, { email: given })).toThrow(message);
    expect(() => make({}, { email: given })).toThrow(TypeError);
  });

  test.each([
    [5, /rateLimit must be false, or an object of rules/],
    [true, /rateLimit must be false, or an object of rules/],
    [
      { store: 'http://127.0.0.1' },
      /rateLimit.store must be a Redis URL \(redis:\/\/…\), or a client of ioredis or redis/,
    ],
    [{ store: {} }, /rateLimit.store must be a Redis URL/],
    [{ signIn: 20 }, /rateLimit.signIn must be false or \{ limit, window \}/],
    [{ signIn: { limit: 0, window: 60 } }, /rateLimit.signIn/],
    [{ signUp: { limit: 1.5, window: 60 } }, /rateLimit.signUp/],
    [{ mail: { limit: 3 } }, /rateLimit.mail/],
    [{ mail: { limit: 3, window: -1 } }, /rateLimit.mail/],
    [{ account: { failures: 5 } }, /rateLimit.account.firstPause must be a number of seconds/],
    [
      { account: { failures: 5, firstPause: 60, maxPause: 15 } },
      /rateLimit.account.firstPause must be at most maxPause/,
    ],
    [{ signin: false }, /rateLimit.signin is not an option of latchkey/],
    // Their rules are fixed.
    [
      { passwordCheck: false, passwordChange: false, usernameCheck: false, revokeOthers: false },
      /rateLimit.passwordCheck, rateLimit.passwordChange, rateLimit.usernameCheck, and rateLimit.revokeOthers are not options/,
    ],
    [{ providerLink: { limit: 9, window: 60 } }, /rateLimit.providerLink is not an option of latchkey/],
    [{ passkeyOptions: { limit: 9, window: 60 } }, /rateLimit.passkeyOptions is not an option of latchkey/],
    [{ store: 'redis://127.0.0.1', keyPrefix: 'shop:' }, /rateLimit.keyPrefix is not an option of latchkey/],
  ])('rateLimit: %j throws a TypeError', (rateLimit, message) => {
    expect(() => make({}, { rateLimit })).toThrow(message);
    expect(() => make({}, { rateLimit })).toThrow(TypeError);
  });
});

describe('codes in emails', () => {
  const create = (options: Parameters<typeof credentialPassword>[0], sends = true) =>
    createAuth({
      database: 'sqlite::memory:',
      secret: SECRET,
      baseUrl: 'http://localhost:3000',
      ...(sends && { email: { send: () => undefined } }),
      plugins: [credentialPassword(options)],
    });

  test.each([
    [{ resetBy: 'code' }, false, "resetBy: 'code' requires email: { send } in the config"],
    [{ verifyEmailBy: 'code' }, false, "verifyEmailBy: 'code' requires email: { send } in the config"],
    [{ verifyEmailBy: 'code', sendVerificationOnSignUp: true }, true, 'set signInOnSignUp, or omit'],
    [{ verifyEmailBy: 'code', signInOnSignUp: true, requireVerifiedEmail: true }, true, 'mutually exclusive'],
    [
      { verifyEmailBy: 'code', concealExistingEmails: true, sendVerificationOnSignUp: false },
      true,
      'requires sendVerificationOnSignUp: omit it',
    ],
    [{ verifyEmailBy: 'mail' }, true, "must be 'password', 'link' or 'code'"],
    [{ resetBy: 'mail' }, true, "must be 'link' or 'code'"],
  ] as const)('%j with emails: %j is a mistake', (options, sends, message) => {
    expect(() => create(options as never, sends)).toThrow(message);
  });

  test.each([
    { verifyEmailBy: 'code' },
    { verifyEmailBy: 'code', requireVerifiedEmail: true },
    { verifyEmailBy: 'code', signInOnSignUp: true, sendVerificationOnSignUp: false },
    { verifyEmailBy: 'code', concealExistingEmails: true, sendVerificationOnSignUp: true },
    { verifyEmailBy: 'code', identifier: 'username', signInOnSignUp: true },
  ] as const)('%j is fine', (options) => {
    expect(() => create(options)).not.toThrow();
  });
});
