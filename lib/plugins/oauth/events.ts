import { declareEvents } from '../../core/events.js';

declare module '../../core/events.js' {
  interface EventDetails {
    'account.linked': { readonly userId: string; readonly provider: string };
    'account.unlinked': { readonly userId: string; readonly provider: string };
    'tokens.read': { readonly userId: string; readonly provider: string };
    'tokens.refreshed': { readonly userId: string; readonly provider: string };
  }
}

declareEvents('account.linked', 'account.unlinked', 'tokens.read', 'tokens.refreshed');
