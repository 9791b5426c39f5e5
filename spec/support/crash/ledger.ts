import type { AuthEventName } from '../../../lib/index.js';

/** An event as a webhook has brought it. */
export interface ReceivedEvent {
  /** The `webhook-id`: several deliveries of one entry have the same. */
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Events of changes that the storm knows of, each by its user. */
const COUNTED = new Set<string>([
  'user.created',
  'user.deleted',
  'user.email_changed',
  'user.suspended',
  'user.reinstated',
  'password.changed',
  'password.reset',
  'password.new_required',
  'second_factor.enabled',
  'second_factor.disabled',
  'account.linked',
  'account.unlinked',
  'account.recovered',
  'passkey.added',
  'passkey.removed',
  'api_key.created',
  'api_key.revoked',
] satisfies AuthEventName[]);

/** How often each change was made, to be compared with the events: one for each that was made, none for others. */
export class Ledger {
  readonly #made = new Map<string, { least: number; most: number }>();

  /** A change was acknowledged, or found to be done. */
  happened(userId: string, event: AuthEventName): void {
    const made = this.#of(userId, event);
    made.least++;
    made.most++;
  }

  /** A change was not answered, and nothing says whether it was done. */
  mayHaveHappened(userId: string, event: AuthEventName): void {
    this.#of(userId, event).most++;
  }

  /** @param unknown users of whom some change is not found out yet @returns which events are missing or too many */
  broken(events: Iterable<ReceivedEvent>, unknown: ReadonlySet<string>): string[] {
    const came = new Map<string, number>();
    for (const { type, data } of events) {
      if (!COUNTED.has(type)) continue;
      const key = `${data.user_id} ${type}`;
      came.set(key, (came.get(key) ?? 0) + 1);
    }
    return [...new Set([...came.keys(), ...this.#made.keys()])].flatMap((key) => {
      const { least, most } = this.#made.get(key) ?? { least: 0, most: 0 };
      const count = came.get(key) ?? 0;
      const isRight = count >= least && count <= most;
      if (isRight || unknown.has(key.slice(0, key.indexOf(' ')))) return [];
      return [`${count} events ${key}, not ${least === most ? least : `${least} to ${most}`}`];
    });
  }

  #of(userId: string, event: AuthEventName) {
    const key = `${userId} ${event}`;
    const made = this.#made.get(key) ?? { least: 0, most: 0 };
    this.#made.set(key, made);
    return made;
  }
}
