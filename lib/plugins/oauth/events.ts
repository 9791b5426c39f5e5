import { declareEvents } from '../../outbox/events.js';

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** An account at a provider was linked. */
    'account.linked': { readonly userId: string; readonly provider: string };
    /** An account at a provider was unlinked. */
    'account.unlinked': { readonly userId: string; readonly provider: string };
    /** A provider's tokens were read. */
    'tokens.read': { readonly userId: string; readonly provider: string };
    /** A provider's tokens were refreshed. */
    'tokens.refreshed': { readonly userId: string; readonly provider: string };
  }
}

declareEvents('account.linked', 'account.unlinked', 'tokens.read', 'tokens.refreshed');
