import type { WayBack } from '../../core/contribution.js';
import type { ApiKeyStore } from './store.js';

/** Undoing a change ends the keys that were created since. Keys that were revoked since stay revoked. */
export function wayBack(store: ApiKeyStore): WayBack {
  return {
    name: 'apiKeys',
    snapshot: (userId, transaction) => store.ids(userId, transaction),
    restore: ({ user }, part, transaction) =>
      store.keep(user.id, (part ?? []) as readonly string[], transaction),
  };
}
