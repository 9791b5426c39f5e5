import type { PendingSignIn, WithDevice, WithSession } from './generated/shapes.js';
import type { AnyShape } from './shape.js';

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

/** A sign-in that waits for `completeSignIn`. */
export interface Waiting extends PendingSignIn {
  readonly step: 'second_factor';
}
