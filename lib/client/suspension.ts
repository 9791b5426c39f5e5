import type { UserForAdmins } from './admin.js';
import type { ChangingCode, FreshCode } from './codes.js';
import type { Call, CallOptions } from './result.js';
import type { AnyShape } from './shape.js';

type Ends = ChangingCode | 'admin_required' | 'task_required' | 'user_not_found';

/** The routes of `suspension()`, for administrators. */
export interface SuspensionClient<S extends AnyShape> {
  /** Suspends a user, and revokes all of the user's sessions. `until` is an ISO 8601 time. */
  suspend(
    userId: string,
    input?: { reason?: string | null; until?: string | null },
    options?: CallOptions,
  ): Call<{ readonly user: UserForAdmins<S> }, Ends | 'own_account'>;
  /** Reinstates a suspended user. */
  reinstate(
    userId: string,
    options?: CallOptions,
  ): Call<{ readonly user: UserForAdmins<S> }, Ends | FreshCode>;
}

/** @internal */
export const SUSPENSION = {
  suspend: 'POST /admin/users/:id/suspend input',
  reinstate: 'POST /admin/users/:id/reinstate',
} satisfies Record<keyof SuspensionClient<AnyShape>, string>;
