import { declareEvents } from '../../outbox/events.js';

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** An API key was created. */
    'api_key.created': { readonly userId: string; readonly apiKeyId: string };
    /** An API key was revoked. */
    'api_key.revoked': { readonly userId: string; readonly apiKeyId: string };
  }
}

declareEvents('api_key.created', 'api_key.revoked');
