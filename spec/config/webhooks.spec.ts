import { afterEach, describe, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { SECRET } from '../support/app.js';

const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const url = 'https://example.com/webhooks';

const create = (webhooks: unknown) =>
  createAuth({ database: 'sqlite::memory:', secret: SECRET, webhooks: webhooks as never });

describe('webhooks in the config', () => {
  const { NODE_ENV } = process.env;
  afterEach(() => {
    process.env.NODE_ENV = NODE_ENV;
  });

  test.each<[string, unknown, RegExp]>([
    ['no list', { url, secret: KEY }, /webhooks must be a list of \{ url, secret, events \}/],
    ['no URL', [{ secret: KEY }], /webhooks\[0\]\.url must be a URL/],
    ['a path', [{ url: '/hooks', secret: KEY }], /webhooks\[0\]\.url must be a URL/],
    ['another protocol', [{ url: 'ftp://example.com', secret: KEY }], /webhooks\[0\]\.url must be a URL/],
    [
      'a password',
      [{ url: 'https://a:b@example.com', secret: KEY }],
      /must not contain a username or password/,
    ],
    ['no secret', [{ url }], /webhooks\[0\]\.secret must be whsec_/],
    ['a secret that is none', [{ url, secret: 'secret' }], /webhooks\[0\]\.secret must be whsec_/],
    ['a short secret', [{ url, secret: 'whsec_c2hvcnQ=' }], /webhooks\[0\]\.secret must be whsec_/],
    ['an unknown option', [{ url, secret: KEY, event: [] }], /event is not an option/],
    [
      'an unknown event',
      [{ url, secret: KEY, events: ['user.made'] }],
      /webhooks: there is no event 'user.made'/,
    ],
    [
      'a URL twice',
      [
        { url, secret: KEY },
        { url, secret: KEY },
      ],
      /contains the same url twice/,
    ],
  ])('are refused with %s', (_what, webhooks, message) => {
    expect(() => create(webhooks)).toThrow(message);
  });

  test('demand https in production, except on this machine', () => {
    create([{ url: 'http://example.com', secret: KEY }]);
    process.env.NODE_ENV = 'production';
    expect(() => create([{ url: 'http://example.com', secret: KEY }])).toThrow(/must be https in production/);
    create([{ url: 'http://127.0.0.1:3000/hooks', secret: KEY }]);
    create([{ url, secret: [KEY, KEY.replace('Bw', 'Cw')], events: ['user.created'] }]);
  });

  test('quote no secret in errors', () => {
    expect(() => create([{ url, secret: 'whsec_not base64 at all' }])).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('not base64') }),
    );
  });
});
