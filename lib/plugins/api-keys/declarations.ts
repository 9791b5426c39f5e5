import { column, type ShownOf } from '../../tables/column.js';
import { declareTable } from '../../tables/table.js';

export const apiKeysTable = declareTable({
  name: 'api_keys',
  ofUser: 'apiKeys',
  columns: {
    /** A UUID, version 7. It identifies the key in lists and is not a credential. */
    id: column.uuid().onWire(),
    /** The id of the user that the key acts for. */
    userId: column.uuid(),
    /** A name for lists of keys. */
    name: column.text(100).onWire(),
    /** The first characters of the key, so that people can tell their keys apart. */
    start: column.text(16).onWire({ description: 'The first characters of the key, to tell keys apart' }),
    keyHash: column.digest().internal(),
    /** The scopes that the key is limited to. */
    scopes: column.words().onWire(),
    /** When the key was created. */
    createdAt: column.time().onWire(),
    /** When the key expires. Null if it does not. */
    expiresAt: column.time().onWire().nullable(),
    /** When the key was last used, updated at most once per minute, up to a second later. Null if never. */
    lastUsedAt: column.time().onWire().nullable(),
  },
});

export type ApiKeyColumns = typeof apiKeysTable.columns;

/** An API key. It does not contain the key itself, of which only a hash is stored. */
export interface ApiKey extends ShownOf<ApiKeyColumns> {}
