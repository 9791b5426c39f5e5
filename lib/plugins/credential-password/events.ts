import { declareEvents } from '../../core/events.js';

declare module '../../core/events.js' {
  interface EventDetails {
    'password.changed': { readonly userId: string };
    'password.reset': { readonly userId: string };
  }
}

declareEvents('password.changed', 'password.reset');
