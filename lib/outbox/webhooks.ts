import { hash } from 'node:crypto';
import type { Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import { abortedAfter } from '../context/deadline.js';
import { signWebhook } from '../crypto/webhook-signature.js';
import type { Database } from '../database/database.js';
import type { Log } from '../logger.js';
import { snakeCase } from '../tables/column.js';
import type { Telemetry } from '../telemetry.js';
import {
  type AuthEventName,
  checkEventName,
  type EventRecorder,
  type Events,
  isForWebhooks,
} from './events.js';
import { type Destination, type OpenEntry, type Outcome, UndeliverableError } from './lane.js';
import type { Outbox } from './outbox.js';
import type { NewEntry } from './rows.js';

/** An endpoint as configured. */
export interface WebhookSettings {
  readonly url: string;
  readonly secrets: readonly string[];
  /** The names of the events to send. Null for all events. */
  readonly events: readonly string[] | null;
}

/** An event, and when it occurred. */
interface Occurred {
  readonly name: AuthEventName;
  readonly event: object;
  /** When it occurred, by `Clock.elapsed`. */
  readonly at: number;
}

/** What {@link Webhooks} need. */
interface WebhooksNeeds {
  readonly database: Database;
  readonly context: CallContext;
  readonly outbox: Outbox;
  readonly settings: { readonly log: Log; readonly telemetry: Telemetry | null };
}

/**
 * Writes events to the outbox, for the endpoints that accept them. A change's events are written in its transaction, so
 * that they cannot be lost. Other events are written at the end of the call, before it returns its outcome.
 */
export class Webhooks implements EventRecorder {
  readonly #endpoints: readonly Endpoint[];
  readonly #saving = new Set<Promise<void>>();

  /** @throws TypeError if an event does not exist, or is not sent to webhooks */
  constructor(
    private readonly core: WebhooksNeeds,
    endpoints: readonly WebhookSettings[],
  ) {
    for (const name of endpoints.flatMap(({ events }) => events ?? [])) {
      checkEventName(name, 'webhooks');
      if (!isForWebhooks(name))
        throw new TypeError(`latchkey: webhooks: ${name} is not sent to webhooks: listen to it with auth.on`);
    }
    this.#endpoints = endpoints.map((one) => new Endpoint(one, core.database, core.settings.telemetry));
    for (const endpoint of this.#endpoints) core.outbox.addDestination(endpoint);
  }

  /** Records all events from now on. */
  listenTo(events: Events): void {
    if (this.#endpoints.length === 0) return;
    this.core.context.collectWith((items) => this.#track(this.#save(items as readonly Occurred[])));
    events.recordWith(this);
  }

  takes(name: AuthEventName): boolean {
    return this.#endpoints.some((endpoint) => endpoint.takes(name));
  }

  record(name: AuthEventName, event: object, transaction: Transaction | undefined): void {
    if (!this.takes(name)) return;
    const occurred: Occurred = { name, event, at: this.core.database.clock.elapsed() };
    // The clock has been read before any transaction begins.
    if (transaction && this.core.outbox.addTo(transaction, this.#entriesOf(occurred))) return;
    this.core.context.collect(occurred);
  }

  pretended(name: AuthEventName): readonly NewEntry[] {
    return this.#entries(name, { body: null });
  }

  /** Waits until all events so far are in the outbox. */
  async settle(): Promise<void> {
    while (this.#saving.size > 0) await Promise.allSettled(this.#saving);
  }

  #track(saving: Promise<void>): Promise<void> {
    const tracked = saving.finally(() => this.#saving.delete(tracked));
    this.#saving.add(tracked);
    return tracked;
  }

  async #save(items: readonly Occurred[]): Promise<void> {
    try {
      await this.core.database.ready();
      await this.core.outbox.add(items.flatMap((occurred) => this.#entriesOf(occurred)));
    } catch (error) {
      // In the app's own transaction, the app handles the failure.
      if (this.core.context.joined) throw error;
      const names = [...new Set(items.map(({ name }) => name))].join(', ');
      this.core.settings.log.error('webhook.lost', `webhooks could not be saved, and are lost: ${names}`, {
        err: error,
      });
    }
  }

  #entriesOf({ name, event, at }: Occurred): readonly NewEntry[] {
    const { clock } = this.core.database;
    const timestamp = clock.date(at - clock.elapsed()).toISOString();
    return this.#entries(name, { body: JSON.stringify({ type: name, timestamp, data: onWire(event) }) });
  }

  #entries(name: AuthEventName, content: WebhookContent): readonly NewEntry[] {
    return this.#endpoints
      .filter((endpoint) => endpoint.takes(name))
      .map(({ lane }) => ({ lane, kind: name, content }));
  }
}

/** Converts keys, and the names of attributes, to their names in JSON. */
function onWire(event: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(event).map(([key, value]) => [
      snakeCase(key),
      key === 'changed' && Array.isArray(value) ? value.map((one) => snakeCase(String(one))) : value,
    ]),
  );
}

const TIMEOUT_MS = 5000;
const AT_ONCE = 10;
const GONE = 410;

/** The content of a webhook in the outbox. */
export interface WebhookContent {
  /**
   * The body to send, which is the same at each attempt. Null if the entry only pretends to be a webhook: see
   * `Events.pretended`.
   */
  readonly body: string | null;
}

/** An endpoint that the outbox sends events to. Each endpoint has its own lane, so that no endpoint delays another. */
export class Endpoint implements Destination {
  readonly lane: string;
  readonly what: string;
  readonly url: string;
  readonly atOnce = AT_ONCE;
  /** Longer than the timeout of the request, whose error says more. */
  readonly timeoutMs = TIMEOUT_MS + 1000;

  constructor(
    private readonly settings: WebhookSettings,
    private readonly database: Database,
    private readonly telemetry: Telemetry | null,
  ) {
    this.url = settings.url;
    this.lane = `webhook ${hash('sha256', settings.url, 'base64url')}`;
    this.what = `a webhook to ${new URL(settings.url).origin}`;
  }

  /** Whether an event is sent here. */
  takes(event: AuthEventName): boolean {
    const { events } = this.settings;
    return events === null ? isForWebhooks(event) : events.includes(event);
  }

  async send({ id, content, traceparent }: OpenEntry): Promise<Outcome> {
    const { body } = content as WebhookContent;
    if (body === null) return 'dropped';
    const timestamp = Math.floor(this.database.clock.now() / 1000);
    const request = {
      headers: {
        'content-type': 'application/json',
        'user-agent': 'latchkey',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signWebhook(this.settings.secrets, id, timestamp, body),
        ...(traceparent !== null && { traceparent }),
      },
      body,
    };
    const sending = () => post(this.url, request);
    const response = await (this.telemetry ? this.telemetry.suppressed(sending) : sending());
    // Do not read the body, which could be of any length.
    await response.body?.cancel().catch(() => undefined);
    if (response.ok) return 'sent';
    throw refusal(response.status);
  }
}

async function post(url: string, request: RequestInit): Promise<Response> {
  const signal = abortedAfter(TIMEOUT_MS);
  try {
    // Do not follow redirects, because they lead to URLs that are not in the config.
    return await fetch(url, { method: 'POST', redirect: 'manual', signal, ...request });
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const error = new Error(`the endpoint did not respond within ${TIMEOUT_MS / 1000} seconds`);
    throw Object.assign(error, { code: 'TIMEOUT' });
  }
}

/** Returns the error for a status. Status 410 means that the receiver never wants this event again. */
function refusal(status: number): Error {
  const error =
    status === GONE
      ? new UndeliverableError('the endpoint is gone')
      : new Error('the endpoint did not accept it');
  return Object.assign(error, { code: `HTTP ${status}` });
}
