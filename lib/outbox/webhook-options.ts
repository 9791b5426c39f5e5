/** An endpoint that gets events. */
export interface WebhookOptions {
  /**
   * Where they are sent: https, or http on this machine. Outside production, http is allowed everywhere.
   * @default none, required
   */
  url: string;
  /**
   * What signs them, as Standard Webhooks says: `whsec_` and 24 to 64 random bytes in base64. During rotation, a list: each of
   * them signs.
   * @default none, required
   */
  secret: string | readonly string[] | undefined;
  /** The names of the events, such as `user.created`. @default all events */
  events?: readonly string[];
}

/** An endpoint as configured. */
export interface WebhookSettings {
  readonly url: string;
  readonly secrets: readonly string[];
  /** Null for all. */
  readonly events: readonly string[] | null;
}
