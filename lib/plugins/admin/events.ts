import { declareEvents } from '../../core/events.js';

declare module '../../core/events.js' {
  interface EventDetails {
    'admin.sessions_revoked': { readonly userId: string; readonly adminId: string | null };
  }
}

declareEvents('admin.sessions_revoked');
