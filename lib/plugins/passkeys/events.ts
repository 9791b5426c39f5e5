import { declareEvents } from '../../outbox/events.js';

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** A passkey was added to an account. */
    'passkey.added': { readonly userId: string; readonly passkeyId: string };
    /** A passkey was removed from an account. */
    'passkey.removed': { readonly userId: string; readonly passkeyId: string };
  }
}

declareEvents('passkey.added', 'passkey.removed');
