import { declareProblems } from '../../errors.js';
import { declareNotices } from '../../mail/notice-kinds.js';
import { declareEvents } from '../../outbox/events.js';
import type { Owner } from '../../owners.js';
import { column, type ShownOf } from '../../tables/column.js';
import { users } from '../../tables/core.js';
import { declareTable } from '../../tables/table.js';

const OWNER: Owner = { name: 'apiKeys' };

export const apiKeysTable = declareTable({
  name: 'api_keys',
  ofUser: 'apiKeys',
  exported: { as: 'api_keys', by: 'userId' },
  columns: {
    /** A UUID, version 7. It identifies the key in lists and is not a credential. */
    id: column.uuid().onWire(),
    /** The id of the user that the key acts for. */
    userId: column.uuid().exported(),
    /** A name for lists of keys. */
    name: column.text(100).onWire(),
    /** The first characters of the key, so that users can distinguish their keys. */
    start: column.text(16).onWire({ description: 'The first characters of the key, to distinguish keys' }),
    keyHash: column.digest().internal(),
    /** The scopes that the key is limited to. */
    scopes: column.words().onWire(),
    /** When the key was created. */
    createdAt: column.time().onWire(),
    /** When the key expires. Null if it does not. */
    expiresAt: column.time().onWire().nullable(),
    /** When the key was last used, updated at most once per minute, up to a second later. Null if it was never used. */
    lastUsedAt: column.time().onWire().nullable(),
  },
  unique: { keyHash: ['keyHash'] },
  foreignKeys: { userId: users },
  indexes: { userId: ['userId'] },
});

export type ApiKeyColumns = typeof apiKeysTable.columns;

/** An API key. It does not contain the key itself, because only a hash of the key is stored. */
export interface ApiKey extends ShownOf<ApiKeyColumns> {}

const problems = declareProblems({
  ambiguous_credentials: [
    400,
    'The request presents an API key and another credential. Send only one of them.',
  ],
  invalid_api_key: [401, 'The API key has expired, was revoked, or never existed. Create a new one.'],
  api_key_not_found: [404, 'You have no such API key. It might have been revoked already.'],
  too_many_api_keys: [409, 'You have the maximum number of API keys. Revoke one that you no longer need.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** An API key was created. */
    'api_key.created': { readonly userId: string; readonly apiKeyId: string };
    /** An API key was revoked. */
    'api_key.revoked': { readonly userId: string; readonly apiKeyId: string };
  }
}

declareEvents(OWNER, { 'api_key.created': { apiKeyId: true }, 'api_key.revoked': { apiKeyId: true } });

export const apiKeyNotices = declareNotices(OWNER, { 'api-key-created': {} });

declare module '../../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof apiKeyNotices, unknown> {}
}
