import { declareEvents } from '../../outbox/events.js';

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** A user was suspended, or their suspension was changed. `adminId` is null for a programmatic call without one. */
    'user.suspended': { readonly userId: string; readonly adminId: string | null };
    /** A suspension was lifted before its end. `adminId` is null for a programmatic call without one. */
    'user.reinstated': { readonly userId: string; readonly adminId: string | null };
  }
}

declareEvents('user.suspended', 'user.reinstated');
