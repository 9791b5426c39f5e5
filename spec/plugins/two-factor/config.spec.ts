import { describe, expect, test } from '@jest/globals';
import {
  createAuth,
  credentialPassword,
  oauth,
  type TwoFactorOptions,
  twoFactor,
} from '../../../lib/index.js';
import { oidc } from '../../../lib/providers.js';
import { SECRET } from '../../support/app.js';

const open = (options: TwoFactorOptions) =>
  createAuth({
    database: 'sqlite::memory:',
    secret: SECRET,
    baseUrl: 'https://app.example.com',
    plugins: [
      credentialPassword(),
      oauth(),
      oidc({ id: 'okta', issuer: 'https://login.example.com', clientId: 'id', clientSecret: 'secret' }),
      twoFactor(options),
    ],
  });

describe('the options', () => {
  test.each<[unknown, RegExp]>([
    [{ issuer: '' }, /twoFactor: issuer must be 1 to 64 visible characters, without a colon/],
    [{ issuer: ' ' }, /issuer must be 1 to 64 visible characters/],
    [{ issuer: 'a:b' }, /issuer must be 1 to 64 visible characters, without a colon/],
    [{ issuer: 'x'.repeat(65) }, /issuer must be 1 to 64/],
    [{ issuer: 5 }, /issuer must be 1 to 64/],
    [{ trustProviders: 'okta' }, /trustProviders must be a list of providers' ids, such as \['okta'\]/],
    [
      { trustProviders: ['octa'] },
      /trustProviders names 'octa', which is not a provider in plugins \(okta\)/,
    ],
    [{ digits: 8 }, /twoFactor/],
    [{ trustDevices: true }, /twoFactor: trustDevices must be an object/],
    [{ trustDevices: {} }, /trustDevices\.days must be a whole number of days, 1 to 90/],
    [{ trustDevices: { days: 0 } }, /trustDevices\.days must be a whole number of days, 1 to 90/],
    [{ trustDevices: { days: 91 } }, /trustDevices\.days must be a whole number of days, 1 to 90/],
    [{ trustDevices: { days: 1.5 } }, /trustDevices\.days must be a whole number of days, 1 to 90/],
  ])('%j are a mistake that is named', (options, message) => {
    expect(() => open(options as TwoFactorOptions)).toThrow(message);
  });

  test.each([
    ['Other', { appName: 'Example', baseUrl: 'https://app.example.com' }, { issuer: 'Other' }],
    ['Example Mail', { appName: 'Example: Mail', baseUrl: 'https://app.example.com' }, {}],
    ['app.example.com', { baseUrl: 'https://app.example.com' }, {}],
    ['latchkey', { appName: ':' }, {}],
    ['latchkey', {}, {}],
  ])('name %j in authenticator apps for %j and %j', async (issuer, config, options) => {
    const plugins = [credentialPassword(), twoFactor(options)] as const;
    const auth = createAuth({ database: 'sqlite::memory:', secret: SECRET, ...config, plugins });
    await auth.migrate();
    const { id: userId } = await auth.users.create({ email: 'ada@example.com' });
    const { session } = await auth.createSession(userId);
    const { otpauthUrl } = await auth.twoFactor.enroll({ userId, sessionId: session.id });
    expect(new URL(otpauthUrl).searchParams.get('issuer')).toBe(issuer);
    await auth.close();
  });

  test('may be left out', async () => {
    await open({ issuer: 'Ümläut & Co.', trustProviders: ['okta'] }).close();
    await open({}).close();
  });
});
