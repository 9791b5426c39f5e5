import {
  digest,
  internal,
  nullable,
  onWire,
  type ShownOf,
  text,
  time,
  uuid,
  words,
} from '../../models/column.js';
import { declareTable } from '../../models/table.js';

export const apiKeysTable = declareTable({
  name: 'api_keys',
  ofUser: 'apiKeys',
  columns: {
    /** UUID, version 7. Public: it names the key in a list, and opens nothing. */
    id: onWire(uuid()),
    userId: uuid(),
    name: onWire(text(100)),
    /** How the key begins, so that people can tell their keys apart. */
    start: onWire(text(16), { description: 'The first characters of the key, to tell keys apart' }),
    keyHash: internal(digest()),
    scopes: onWire(words()),
    createdAt: onWire(time()),
    /** Null for a key that does not expire. */
    expiresAt: nullable(onWire(time())),
    /** Written at most once a minute. */
    lastUsedAt: nullable(onWire(time())),
  },
});

export type ApiKeyColumns = typeof apiKeysTable.columns;

/** A key with which a program acts for a user. The key itself is not in here: only its hash is stored. */
export interface ApiKey extends ShownOf<ApiKeyColumns> {}
