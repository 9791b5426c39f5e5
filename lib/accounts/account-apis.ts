import type { Core } from '../core/core.js';
import { type ImportApi, importApi } from './import-users.js';
import { type WayBackApi, wayBackApi } from './undo-api.js';

/** What the app's own code can do with accounts, beside `auth.users`. */
export interface AccountApis extends WayBackApi, ImportApi {}

/** The programmatic API. */
export function accountApis(core: Core): AccountApis {
  return { ...wayBackApi(core), ...importApi(core) };
}
