import { declareEvents } from '../../outbox/events.js';

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** A password was changed, or set for the first time. */
    'password.changed': { readonly userId: string };
    /** A password was reset with an emailed link. */
    'password.reset': { readonly userId: string };
  }
}

declareEvents('password.changed', 'password.reset');
