import { hash } from 'node:crypto';
import { signWebhook } from '../crypto/webhook-signature.js';
import type { Database } from '../database/database.js';
import { type Destination, type OpenEntry, UndeliverableError } from './lane.js';
import type { WebhookSettings } from './webhook-options.js';

const TIMEOUT_MS = 5000;
const AT_ONCE = 10;
const GONE = 410;

/** What is written to the outbox of a webhook. */
export interface WebhookContent {
  /** As it is sent, the same at each attempt. Null if it only pretends to be one: see `Events.pretended`. */
  readonly body: string | null;
}

/** The URL of a webhook, to which the outbox sends events. Each has a lane of its own, so that none holds up another. */
export class Endpoint implements Destination {
  readonly lane: string;
  readonly what: string;
  readonly url: string;
  readonly atOnce = AT_ONCE;
  /** Beyond that of the request, whose error says more. */
  readonly timeoutMs = TIMEOUT_MS + 1000;

  constructor(
    private readonly settings: WebhookSettings,
    private readonly database: Pick<Database, 'clock'>,
  ) {
    this.url = settings.url;
    this.lane = `webhook ${hash('sha256', settings.url, 'base64url')}`;
    this.what = `a webhook to ${new URL(settings.url).origin}`;
  }

  /** Whether an event is sent here. */
  takes(event: string): boolean {
    const { events } = this.settings;
    return events === null || events.includes(event);
  }

  async send({ id, content }: OpenEntry): Promise<boolean> {
    const { body } = content as WebhookContent;
    if (body === null) return false;
    const timestamp = Math.floor(this.database.clock.now() / 1000);
    const response = await post(this.url, {
      headers: {
        'content-type': 'application/json',
        'user-agent': 'latchkey',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signWebhook(this.settings.secrets, id, timestamp, body),
      },
      body,
    });
    // Whatever it says is not read, however long it is.
    await response.body?.cancel().catch(() => undefined);
    if (response.ok) return true;
    throw refusal(response.status);
  }
}

async function post(url: string, request: RequestInit): Promise<Response> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    // Where a redirect leads is not where the config says.
    return await fetch(url, { method: 'POST', redirect: 'manual', signal, ...request });
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const error = new Error(`the endpoint did not answer within ${TIMEOUT_MS / 1000} seconds`);
    throw Object.assign(error, { code: 'TIMEOUT' });
  }
}

/** With 410, the receiver says that it never wants this again. */
function refusal(status: number): Error {
  const error =
    status === GONE
      ? new UndeliverableError('the endpoint is gone')
      : new Error('the endpoint did not accept it');
  return Object.assign(error, { code: `HTTP ${status}` });
}
