import { declareEvents } from '../../core/events.js';

declare module '../../core/events.js' {
  interface EventDetails {
    /** An administrator revoked all sessions of a user. `adminId` is null for a programmatic call without one. */
    'admin.sessions_revoked': { readonly userId: string; readonly adminId: string | null };
  }
}

declareEvents('admin.sessions_revoked');
