import { declareEvents } from '../../core/events.js';

declare module '../../core/events.js' {
  interface EventDetails {
    'api_key.created': { readonly userId: string; readonly apiKeyId: string };
    'api_key.revoked': { readonly userId: string; readonly apiKeyId: string };
  }
}

declareEvents('api_key.created', 'api_key.revoked');
