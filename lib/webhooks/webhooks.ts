import type { WebhookSettings } from '../config/webhook-options.js';
import type { CallContext } from '../context/call.js';
import { type AuthEventName, checkEventName, type Events } from '../core/events.js';
import type { Database } from '../database/database.js';
import type { Logger } from '../logger.js';
import { snakeCase } from '../models/column.js';
import type { Outbox } from '../outbox/outbox.js';
import type { NewEntry } from '../outbox/outbox-rows.js';
import { Endpoint, type WebhookContent } from './endpoint.js';

/** Rows in one statement. */
const BATCH = 100;
/** Pauses before events are saved again whose call could not save them, because the database was down for a moment. */
const PAUSES_MS = [100, 1000, 5000, 15_000];
const MAX_WAITING = 1000;

interface Occurred {
  readonly name: AuthEventName;
  /** Null if it only pretends to have happened: see `Events.pretend`. */
  readonly event: object | null;
  /** When, by `Clock.elapsed`. */
  readonly at: number;
}

/**
 * Writes events to the outbox, for the endpoints that take them: at the end of the call that caused them, before its outcome
 * is told; in a transaction of the app, as a part of that.
 */
export class Webhooks {
  readonly #endpoints: readonly Endpoint[];
  readonly #saving = new Set<Promise<void>>();

  /** @throws TypeError if there is no such event */
  constructor(
    settings: readonly WebhookSettings[],
    private readonly database: Database,
    private readonly context: CallContext,
    private readonly outbox: Outbox,
    private readonly logger: Logger,
  ) {
    for (const name of settings.flatMap(({ events }) => events ?? [])) checkEventName(name, 'webhooks');
    this.#endpoints = settings.map((one) => new Endpoint(one, database));
    for (const endpoint of this.#endpoints) outbox.addDestination(endpoint);
  }

  /** Listens to all events. */
  listenTo(events: Events): void {
    if (this.#endpoints.length === 0) return;
    this.context.keepWith((items) => this.#track(this.#keep(items as readonly Occurred[])));
    events.onOccurrence((name, event) => {
      const occurred: Occurred = { name, event, at: this.database.clock.elapsed() };
      if (this.#endpoints.some((endpoint) => endpoint.takes(name))) this.context.keep(occurred);
    });
  }

  /** Waits until what has happened is in the outbox. */
  async settle(): Promise<void> {
    while (this.#saving.size > 0) await Promise.allSettled(this.#saving);
  }

  async #keep(items: readonly Occurred[]): Promise<void> {
    // The transaction of the app decides what becomes of it, and of its failures.
    if (this.context.joined) return this.#save(items);
    try {
      await this.#save(items);
    } catch {
      // What happened has been committed.
      this.#saveLater(items);
    }
  }

  #track(saving: Promise<void>): Promise<void> {
    const tracked = saving.finally(() => this.#saving.delete(tracked));
    this.#saving.add(tracked);
    return tracked;
  }

  #saveLater(items: readonly Occurred[]): void {
    const saving = this.context
      .detached(() => this.#saveAgain(items))
      .catch((error) => {
        const names = [...new Set(items.map(({ name }) => name))].join(', ');
        this.logger.error(`latchkey: webhooks could not be saved, and are lost: ${names}`, error);
      });
    void this.#track(saving);
  }

  async #saveAgain(items: readonly Occurred[]): Promise<void> {
    if (this.#saving.size >= MAX_WAITING) throw new Error(`${MAX_WAITING} others are waiting`);
    for (const pauseMs of PAUSES_MS) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      const isSaved = await this.#save(items).then(
        () => true,
        () => false,
      );
      if (isSaved) return;
    }
    await this.#save(items);
  }

  async #save(items: readonly Occurred[]): Promise<void> {
    await this.database.ready();
    const entries = items.flatMap((occurred) => this.#entriesOf(occurred));
    for (let at = 0; at < entries.length; at += BATCH) await this.outbox.add(entries.slice(at, at + BATCH));
  }

  #entriesOf({ name, event, at }: Occurred): NewEntry[] {
    const { clock } = this.database;
    const timestamp = clock.date(at - clock.elapsed()).toISOString();
    const body = event && JSON.stringify({ type: name, timestamp, data: onWire(event) });
    const content: WebhookContent = { body };
    return this.#endpoints
      .filter((endpoint) => endpoint.takes(name))
      .map(({ lane }) => ({ lane, kind: name, content }));
  }
}

/** Keys, and the names of attributes, as they are on the wire. */
function onWire(event: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(event).map(([key, value]) => [
      snakeCase(key),
      key === 'changed' && Array.isArray(value) ? value.map((one) => snakeCase(String(one))) : value,
    ]),
  );
}
