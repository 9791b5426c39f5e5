import type { Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import type { Database } from '../database/database.js';
import type { Logger } from '../logger.js';
import { snakeCase } from '../tables/column.js';
import { Endpoint, type WebhookContent } from './endpoint.js';
import { type AuthEventName, checkEventName, type EventRecorder, type Events } from './events.js';
import type { Outbox } from './outbox.js';
import type { NewEntry } from './rows.js';
import type { WebhookSettings } from './webhook-options.js';

/** An event that belongs to no transaction. */
interface Occurred {
  readonly name: AuthEventName;
  readonly event: object;
  /** When, by `Clock.elapsed`. */
  readonly at: number;
}

/**
 * Writes events to the outbox, for the endpoints that take them: those of a change in its transaction, so that none can be
 * lost; others at the end of the call, before its outcome is told.
 */
export class Webhooks implements EventRecorder {
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

  /** Writes down all events from now on. */
  listenTo(events: Events): void {
    if (this.#endpoints.length === 0) return;
    this.context.keepWith((items) => this.#track(this.#save(items as readonly Occurred[])));
    events.recordWith(this);
  }

  takes(name: AuthEventName): boolean {
    return this.#endpoints.some((endpoint) => endpoint.takes(name));
  }

  record(name: AuthEventName, event: object, transaction: Transaction | undefined): void {
    if (!this.takes(name)) return;
    const occurred: Occurred = { name, event, at: this.database.clock.elapsed() };
    // Before a transaction begins, the clock has been read.
    if (transaction && this.outbox.addTo(transaction, this.#entriesOf(occurred))) return;
    this.context.keep(occurred);
  }

  pretended(name: AuthEventName): readonly NewEntry[] {
    return this.#entries(name, { body: null });
  }

  /** Waits until what has happened is in the outbox. */
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
      await this.database.ready();
      await this.outbox.add(items.flatMap((occurred) => this.#entriesOf(occurred)));
    } catch (error) {
      // The transaction of the app decides what becomes of it, and of its failures.
      if (this.context.joined) throw error;
      const names = [...new Set(items.map(({ name }) => name))].join(', ');
      this.logger.error(`latchkey: webhooks could not be saved, and are lost: ${names}`, error);
    }
  }

  #entriesOf({ name, event, at }: Occurred): readonly NewEntry[] {
    const { clock } = this.database;
    const timestamp = clock.date(at - clock.elapsed()).toISOString();
    return this.#entries(name, { body: JSON.stringify({ type: name, timestamp, data: onWire(event) }) });
  }

  #entries(name: AuthEventName, content: WebhookContent): readonly NewEntry[] {
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
