import * as z from 'zod';
import { isWebhookSecret } from '../crypto/webhook-signature.js';
import type { WebhookSettings } from '../outbox/webhook-options.js';
import { isLoopback } from './options.js';

const WHAT_SECRET =
  "must be whsec_ and 24 to 64 random bytes in base64, such as from `node -p \"'whsec_' + require('crypto').randomBytes(32).toString('base64')\"`";
const secret = z.string(WHAT_SECRET).refine(isWebhookSecret, { error: WHAT_SECRET });
const url = z
  .string('must be a URL such as https://example.com/webhooks')
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'must be a URL such as https://example.com/webhooks',
    abort: true,
  })
  .refine((text) => new URL(text).username === '' && new URL(text).password === '', {
    error: 'must not contain a username or password: its receiver verifies the signature',
  })
  .refine((text) => process.env.NODE_ENV !== 'production' || isSafe(new URL(text)), {
    error: 'must be https in production, except on this machine',
  });

/** Validates `webhooks`. */
export const webhooksSchema = z
  .array(
    z
      .strictObject({
        url,
        secret: z.union([secret, z.array(secret).min(1, 'must contain at least one secret')], {
          error: WHAT_SECRET,
        }),
        events: z.array(z.string('must be the name of an event'), 'must be a list of events').optional(),
      })
      .transform(
        ({ url, secret, events = null }): WebhookSettings => ({
          url: new URL(url).href,
          secrets: [secret].flat(),
          events,
        }),
      ),
    'must be a list of { url, secret, events }',
  )
  .refine((list) => new Set(list.map(({ url }) => url)).size === list.length, {
    error: 'contains the same url twice: put all of its events into one',
  });

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname);
}
