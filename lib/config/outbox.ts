import * as z from 'zod';
import { isWebhookSecret } from '../crypto/webhook-signature.js';
import type { WebhookSettings } from '../outbox/webhooks.js';
import { isLoopback, schemaOf } from './options.js';

/** How latchkey retries emails and webhooks that could not be sent immediately. */
export interface OutboxOptions {
  /**
   * How often a process looks for such emails and webhooks, in seconds. With `false`, it never does: call
   * `auth.outbox.deliver()` in a job instead.
   * @default 15
   */
  interval?: number | false;
  /**
   * Is called with a promise for each piece of work that continues after the response, so that a platform that stops a
   * process between requests waits for it, such as `waitUntil` of `@vercel/functions`. It is called synchronously, in
   * the AsyncLocalStorage of the request that starts the work, usually before the response is sent. The promise never
   * rejects. An error of the function is logged.
   * @default none: the process keeps running
   */
  waitUntil?: (work: Promise<void>) => unknown;
}

/** @internal */
export const outboxSchema = schemaOf<OutboxOptions>()({
  interval: z
    .union(
      [z.literal(false), z.number().min(1).max(3600)],
      'must be false, or a number of seconds from 1 to 3600',
    )
    .default(15),
  waitUntil: z
    .custom<NonNullable<OutboxOptions['waitUntil']>>((it) => typeof it === 'function', 'must be a function')
    .optional(),
});

/** An endpoint that receives events. */
export interface WebhookOptions {
  /**
   * The URL that events are sent to: https, or http on this machine. Outside production, http is allowed everywhere.
   * @default none, required
   */
  url: string;
  /**
   * The secret that signs the events, as Standard Webhooks specifies: `whsec_` and 24 to 64 random bytes in base64.
   * During a rotation, a list of secrets: each of them signs.
   * @default none, required
   */
  secret: string | readonly string[] | undefined;
  /** The names of the events, such as `user.created`. @default all events except `rate_limit.refused` */
  events?: readonly string[];
}

const WHAT_SECRET =
  "must be whsec_ and 24 to 64 random bytes in base64, such as from `node -p \"'whsec_' + require('crypto').randomBytes(32).toString('base64')\"`";
const webhookSecret = z.string(WHAT_SECRET).refine(isWebhookSecret, { error: WHAT_SECRET });
const url = z
  .string('must be a URL such as https://example.com/webhooks')
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'must be a URL such as https://example.com/webhooks',
    abort: true,
  })
  .refine((text) => new URL(text).username === '' && new URL(text).password === '', {
    error: 'must not contain a username or password: remove them, and let the receiver verify the signature',
  })
  .refine((text) => process.env.NODE_ENV !== 'production' || isSafe(new URL(text)), {
    error: 'must be https in production, except on this machine',
  });

/** @internal */
export const webhookSchema = schemaOf<WebhookOptions>()({
  url,
  secret: z.union([webhookSecret, z.array(webhookSecret).min(1, 'must contain at least one secret')], {
    error: WHAT_SECRET,
  }),
  events: z.array(z.string('must be the name of an event'), 'must be a list of events').optional(),
});

/** @internal */
export const webhooksSchema = z
  .array(
    webhookSchema.transform(
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
