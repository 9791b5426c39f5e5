import { column, type ShownOf } from '../../models/column.js';
import { declareTable } from '../../models/table.js';

export const apiKeysTable = declareTable({
  name: 'api_keys',
  ofUser: 'apiKeys',
  columns: {
    /** UUID, version 7. Public: it names the key in a list, and opens nothing. */
    id: column.uuid().onWire(),
    userId: column.uuid(),
    name: column.text(100).onWire(),
    /** How the key begins, so that people can tell their keys apart. */
    start: column.text(16).onWire({ description: 'The first characters of the key, to tell keys apart' }),
    keyHash: column.digest().internal(),
    scopes: column.words().onWire(),
    createdAt: column.time().onWire(),
    /** Null for a key that does not expire. */
    expiresAt: column.time().onWire().nullable(),
    /** Written at most once a minute. */
    lastUsedAt: column.time().onWire().nullable(),
  },
});

export type ApiKeyColumns = typeof apiKeysTable.columns;

/** A key with which a program acts for a user. The key itself is not in here: only its hash is stored. */
export interface ApiKey extends ShownOf<ApiKeyColumns> {}
