import { afterEach, describe, expect, test } from '@jest/globals';
import { type AuthConfig, createAuth, type PasskeysOptions, passkeys } from '../../../lib/index.js';
import { memoryLogger, password, SECRET } from '../../support/app.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const auth of open.splice(0)) await auth.close();
});

function start(options: PasskeysOptions | undefined, config: Partial<AuthConfig> = {}) {
  const logger = memoryLogger();
  const auth = createAuth({
    database: 'sqlite::memory:',
    secret: SECRET,
    logger,
    baseUrl: 'https://app.example.com',
    ...config,
    plugins: [password(), passkeys(options)],
  });
  open.push(auth);
  return { auth, log: logger.lines };
}

describe('passkeys()', () => {
  test.each<[string, PasskeysOptions | undefined, Partial<AuthConfig>]>([
    ['app.example.com', undefined, {}],
    ['Example', undefined, { appName: 'Example' }],
    ['Other', { rpName: 'Other' }, { appName: 'Example' }],
  ])('takes the domain from baseUrl, and has the name %s', async (name, given, config) => {
    const { auth, log } = start(given, config);
    await auth.migrate();
    const { options } = await auth.passkeys.signInOptions();
    expect(options.rpId).toBe('app.example.com');
    const { id: userId } = await auth.users.create({ email: 'ada@example.com' });
    const { session } = await auth.createSession(userId);
    const registration = await auth.passkeys.registrationOptions({ userId, sessionId: session.id });
    expect(registration.options.rp).toEqual({ id: 'app.example.com', name });
    expect(log).toEqual([]);
  });

  test.each([
    ['example.com', 'https://app.example.com'],
    ['example.com', 'https://example.com:8443'],
    ['localhost', 'http://localhost:3000'],
    ['localhost', 'http://app.localhost:3000'],
    ['intranet', 'https://intranet'],
    ['xn--bcher-kva.example', 'https://www.bücher.example'],
  ])('can be bound to %s at %s', (rpId, baseUrl) => {
    expect(start({ rpId }, { baseUrl }).log).toEqual([]);
  });

  test.each([
    ['http://127.0.0.1:3000', 'IP address'],
    ['http://[::1]:3000', 'IP address'],
    ['https://203.0.113.7', 'IP address'],
    ['http://127.1', 'IP address'],
    [undefined, 'baseUrl is missing'],
  ])('cannot be bound to %s', (baseUrl, why) => {
    expect(() => start(undefined, { baseUrl } as never)).toThrow(TypeError);
    expect(() => start(undefined, { baseUrl } as never)).toThrow(why);
    expect(() => start(undefined, { baseUrl } as never)).toThrow(
      /set (baseUrl|it) to .*https:\/\/app\.example\.com/,
    );
    // Not with a domain either, which browsers would not accept on that page.
    expect(() => start({ rpId: 'example.com' }, { baseUrl } as never)).toThrow(why);
  });

  test.each(['other.com', 'ple.com', 'my.app.example.com', 'le.com'])(
    'refuses a domain that is not above baseUrl: %s',
    (rpId) => {
      expect(() => start({ rpId })).toThrow(
        'rpId must be the host of baseUrl, app.example.com, or a domain above it',
      );
    },
  );

  test('refuses a domain that others share, and takes a host of one word that is the own one', () => {
    expect(() => start({ rpId: 'com' })).toThrow(
      'passkeys: rpId must be your own domain, such as example.com',
    );
    expect(start({ rpId: 'intranet' }, { baseUrl: 'https://intranet' } as never).log).toEqual([]);
    expect(start({ rpId: 'localhost' }, { baseUrl: 'http://app.localhost:3000' } as never).log).toEqual([]);
  });

  test.each([
    ['https://example.com', 'must be a domain'],
    ['example.com:443', 'must be a domain'],
    ['Example.com', 'must be a domain'],
    ['example.com.', 'must be a domain'],
    ['', 'must be a domain'],
    ['127.0.0.1', 'must be a domain'],
    [7, 'must be a domain'],
  ])('refuses the domain %j', (rpId, why) => {
    expect(() => start({ rpId } as never)).toThrow(`passkeys: rpId ${why}`);
  });

  test.each(['', ' ', ' x', 'x'.repeat(65), 7])('refuses the name %j', (rpName) => {
    expect(() => start({ rpName } as never)).toThrow('passkeys: rpName must be');
  });

  test('refuses other options', () => {
    expect(() => start({ rpID: 'example.com' } as never)).toThrow('did you mean rpId');
  });

  test('warns of plain http, on which browsers have no passkeys', () => {
    const { log } = start(undefined, { baseUrl: 'http://app.example.com' });
    expect(log.join()).toMatch(/warn latchkey: passkeys: baseUrl is http/);
  });
});
