import { describe, expect, test } from '@jest/globals';
import { type AuthConfig, readConfig } from '../../lib/config/config.js';
import { pages } from '../../lib/pages.js';
import { english } from '../../lib/words/emails/index.js';
import { SECRET } from '../support/app.js';

const send = () => undefined;
const settingsOf = (config: Partial<AuthConfig> = {}) =>
  readConfig({ database: 'sqlite:x.db', secret: SECRET, logger: console, ...config }).settings;
const lookOf = (brand: object, config: Partial<AuthConfig> = {}) =>
  settingsOf({ baseUrl: 'https://app.example.com/app', ...config, email: { send, brand } }).email?.look;

describe('appName', () => {
  test.each<[string | null, Partial<AuthConfig>]>([
    ['Example', { appName: 'Example', baseUrl: 'https://app.example.com' }],
    ['Example', { appName: ' Example ' }],
    ['"A" <b> & C: ✓', { appName: '"A" <b> & C: ✓' }],
    ['🔑'.repeat(64), { appName: '🔑'.repeat(64) }],
    ['app.example.com', { baseUrl: 'https://app.example.com:8443/app' }],
    ['localhost', { baseUrl: 'http://localhost:3000' }],
    [null, {}],
  ])('is %j for %j', (name, config) => {
    expect(settingsOf(config).appName).toBe(name);
  });

  test.each([
    '',
    '  ',
    'x'.repeat(65),
    'a\nb',
    'a\r\nBcc: eve@example.com',
    'a\u0000b',
    'a\u202eb',
    'a\u2028b',
    5,
  ])('cannot be %j', (appName) => {
    expect(() => settingsOf({ appName } as never)).toThrow(
      'latchkey: appName must be a name of 1 to 64 characters on one line',
    );
  });

  test('is in the words about whom to ask, unless there is an address', () => {
    const asked = (config: Partial<AuthConfig>, supportUrl?: string) => {
      const settings = settingsOf({
        ...config,
        email: { send, ...(supportUrl && { supportUrl }), notices: [] },
      });
      return settings.email?.support ?? english.people(settings.email?.look.appName ?? null);
    };
    const baseUrl = 'https://app.example.com';
    expect(asked({ baseUrl, appName: 'Example' })).toBe('the people who run Example');
    expect(asked({ baseUrl })).toBe('the people who run app.example.com');
    expect(asked({ appName: 'Example' })).toBe('the people who run Example');
    expect(asked({})).toBe('the people who run this service');
    expect(asked({ appName: 'Example' }, 'mailto:help@example.com')).toBe('help@example.com');
  });
});

describe('email.brand', () => {
  test('is a blue without a logo and a footer by default', () => {
    expect(lookOf({})).toEqual({ appName: 'app.example.com', logo: null, color: '#2f5bd8', footer: null });
    expect(settingsOf({ email: { send } }).email?.look.appName).toBeNull();
  });

  test('has the accent of the pages, unless it has its own color', () => {
    const plugins = [pages({ theme: { accent: '#7a3cc8' } })];
    expect(lookOf({}, { plugins })).toMatchObject({ color: '#7a3cc8' });
    expect(lookOf({ color: '#05d' }, { plugins })).toMatchObject({ color: '#05d' });
    expect(lookOf({}, { plugins: [pages()] })).toMatchObject({ color: '#2f5bd8' });
  });

  test.each([
    ['https://cdn.example.com/logo.png', 'https://cdn.example.com/logo.png'],
    ['http://localhost:3000/logo.png', 'http://localhost:3000/logo.png'],
    ['/logo.png?v=1', 'https://app.example.com/logo.png?v=1'],
  ])('takes the logo %s', (logoUrl, logo) => {
    expect(lookOf({ logoUrl })).toMatchObject({ logo });
  });

  test.each([
    [{ logoUrl: 'http://example.com/logo.png' }, 'email.brand.logoUrl must be an https URL of an image, or'],
    [{ logoUrl: '//example.com/logo.png' }, 'email.brand.logoUrl must be'],
    [{ logoUrl: 'logo.png' }, 'email.brand.logoUrl must be'],
    [{ logoUrl: 'javascript:alert(1)' }, 'email.brand.logoUrl must be'],
    [{ logoUrl: 'data:image/png;base64,AA==' }, 'email.brand.logoUrl must be'],
    [{ color: 'red' }, 'email.brand.color must be a color such as #2f5bd8 or #25d'],
    [{ color: '#12345' }, 'email.brand.color must be'],
    [{ color: '#fff;x:y' }, 'email.brand.color must be'],
    [{ color: '#fff\n' }, 'email.brand.color must be'],
    [{ footer: '' }, 'email.brand.footer must be plain text of 1 to 500 characters'],
    [{ footer: 'x'.repeat(501) }, 'email.brand.footer must be'],
    [{ footer: 'a\u0000' }, 'email.brand.footer must be'],
    [
      { colour: '#fff' },
      'email.brand.colour is not an option of latchkey: check the spelling (did you mean email.brand.color?)',
    ],
  ])('refuses %j', (brand, message) => {
    expect(() => lookOf(brand)).toThrow(message);
  });

  test('refuses the path of a logo without baseUrl', () => {
    expect(() => settingsOf({ email: { send, brand: { logoUrl: '/logo.png' } } })).toThrow(
      'latchkey: email.brand.logoUrl is a path, which requires baseUrl: set baseUrl, or set logoUrl to a URL',
    );
  });

  test('takes a footer of several lines', () => {
    expect(lookOf({ footer: ' Example Ltd\r\n1 <b>High</b> Street\n' })).toMatchObject({
      footer: 'Example Ltd\n1 <b>High</b> Street',
    });
  });
});
