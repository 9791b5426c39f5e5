import { afterEach, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { memoryLogger, password, SECRET } from '../support/app.js';

const environment = process.env.NODE_ENV;
afterEach(() => {
  process.env.NODE_ENV = environment;
});

const email = { send: () => undefined };
const warnings = (config: object) => {
  const logger = memoryLogger();
  createAuth({ database: 'sqlite:x.db', secret: SECRET, plugins: [password()], logger, ...config });
  return logger.lines;
};
const secure = (value: boolean) => ({ session: { cookie: { secure: value } } });

test.each([
  {},
  { baseUrl: 'https://app.example.com' },
  { baseUrl: 'https://app.example.com', session: { cookie: { domain: 'example.com' } } },
  { baseUrl: 'https://app.example.com', session: { cookie: { domain: '.App.Example.Com' } } },
  { baseUrl: 'http://localhost:3000', session: { cookie: { domain: 'localhost' } } },
  { baseUrl: 'http://app.example.com' },
  { baseUrl: 'https://app.example.com', email },
  {
    email: {
      ...email,
      verifyUrl: 'https://a.example/v',
      resetUrl: 'myapp://reset',
      changeEmailUrl: 'myapp://email',
      undoUrl: 'myapp://undo',
    },
  },
  { session: { touchInterval: 0 } },
  { rateLimit: { account: { failures: 5, firstPause: 15, maxPause: 15 } } },
])('the config %j is accepted without warnings', (config) => {
  expect(warnings(config)).toEqual([]);
});

test('a cookie that is not Secure with an https baseUrl causes a warning', () => {
  expect(warnings({ baseUrl: 'https://app.example.com', ...secure(false) })).toEqual([
    'warn latchkey: session.cookie.secure is false although baseUrl is https: browsers also send the cookie over plain http',
  ]);
});

test('an http baseUrl in production causes a warning unless it is the local machine', () => {
  process.env.NODE_ENV = 'production';
  const plugins = [password({ bcryptCost: 10 })];
  for (const baseUrl of [
    'http://localhost:3000',
    'http://127.0.0.1',
    'http://[::1]:3000',
    'https://a.example',
  ])
    expect(warnings({ baseUrl, plugins })).toEqual([]);
  expect(warnings({ baseUrl: 'http://app.example.com', plugins })).toEqual([
    'warn latchkey: baseUrl is http in production: passwords and session tokens are sent unencrypted, and browsers reject the Secure cookie',
  ]);
  expect(warnings({ baseUrl: 'http://app.example.com', plugins, ...secure(false) })).toEqual([
    'warn latchkey: baseUrl is http in production: passwords and session tokens are sent unencrypted',
  ]);
});

test.each([
  { email },
  { email: { ...email, verifyUrl: '/confirm', resetUrl: '/new-password' } },
  { email: { ...email, verifyUrl: 'https://a.example/v' } },
])('the config %j without baseUrl causes one warning, because links are not absolute', (config) => {
  expect(warnings(config)).toEqual([
    'warn latchkey: links in emails are relative without baseUrl: set it, or set the pages in email to URLs',
  ]);
});
