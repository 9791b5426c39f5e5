import type { AnyShape } from './shape.js';

/** An account without the app's own fields, as the routes send it. Times are ISO 8601 strings. */
export interface Account {
  readonly id: string;
  readonly email: string | null;
  /** Present with `username: true` or `identifier: 'username'`. */
  readonly username?: string | null;
  /** The username as the user typed it. */
  readonly username_display?: string | null;
  readonly email_verified_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A user, with the app's own fields. */
export type User<S extends AnyShape> = Account & Readonly<S['fields']>;

/** A session, as the routes send it. Times are ISO 8601 strings. */
export interface Session {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: string;
  readonly last_active_at: string;
  readonly expires_at: string;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  /** 2 if the session is verified with a second factor or a passkey, otherwise 1. */
  readonly aal: number;
  /** How the user signed in, such as `pwd` (RFC 8176). */
  readonly amr: readonly string[];
  /** The tasks that the user must complete, in this order, to use the session. Absent if the app has no tasks. */
  readonly tasks?: readonly string[];
}

/** A session in a list. */
export interface ListedSession extends Session {
  /** Whether the request presented this session. */
  readonly current: boolean;
}

/** An API key, without the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** The first characters of the key, to recognize it. */
  readonly start: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

/** A user, and the session that a request has issued. */
export interface WithSession<S extends AnyShape> {
  readonly user: User<S>;
  readonly session: Session;
}

/** The value for the header `Latchkey-Device`. Present if the request sent this header. */
export interface WithDevice {
  readonly device_token?: string;
}

/** A sign-in that is complete, or that waits for another step or a task. */
export type SignedIn<S extends AnyShape> = WithStep<S> | Waiting;

/** A sign-in that has issued a session. */
export type WithStep<S extends AnyShape> = Finished<S> | HeldByTask<S>;

/** A sign-in that is complete. */
export interface Finished<S extends AnyShape> extends WithSession<S>, WithDevice {
  readonly step: 'done';
}

/** A sign-in whose session can do little until the user has completed a task. */
export interface HeldByTask<S extends AnyShape> extends WithSession<S>, WithDevice {
  readonly step: 'task';
  /** The first open task, such as `enroll_second_factor`. */
  readonly task: string;
}

/** A sign-in that proves access to the mailbox. */
export interface WithRemoval {
  /** Present if the sign-in has removed the password, because someone else could have chosen it. */
  readonly password_removed?: true;
}

/** A sign-in that waits for `completeSignIn`. */
export interface Waiting {
  readonly step: 'second_factor';
  readonly second_factor: {
    /** The methods that can complete it: any of `totp`, `recovery_code`, `passkey` and `email_code`. */
    readonly methods: readonly string[];
    readonly expires_at: string;
    /** Present with `bearerEnabled`. Clients without cookies pass it to `completeSignIn`. */
    readonly pending_token?: string;
  };
}

/** A page of a list. */
export interface Page {
  readonly limit?: string;
  readonly cursor?: string;
}

/** The password, in place of a recent sign-in. */
export interface WithPassword {
  password?: string;
}
