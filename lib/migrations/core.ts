import { usersAndSessions } from './0001-users-and-sessions.js';
import { rateLimits } from './0004-rate-limits.js';
import { oneTimeTokens } from './0005-one-time-tokens.js';
import { longerPasswordHashes } from './0007-longer-password-hashes.js';
import { devices } from './0008-devices.js';
import { replacedTokens } from './0010-replaced-tokens.js';
import { epochsOfTokens } from './0011-epochs-of-tokens.js';
import { longerUsernames } from './0013-longer-usernames.js';
import { assurance } from './0014-assurance.js';
import { accountChanges } from './0015-account-changes.js';
import { deletedUsers } from './0016-deleted-users.js';
import { largeTables } from './0019-large-tables.js';
import { outbox } from './0020-outbox.js';
import { carriedSessions } from './0025-carried-sessions.js';
import type { Migration } from './migration.js';
import { provedMailboxes } from './steps.js';

/** The core's migrations, in the order in which they are applied; those of plugins come after them. */
export const coreMigrations: readonly Migration[] = [
  usersAndSessions,
  rateLimits,
  oneTimeTokens,
  longerPasswordHashes,
  devices,
  provedMailboxes,
  replacedTokens,
  epochsOfTokens,
  longerUsernames,
  assurance,
  accountChanges,
  deletedUsers,
  largeTables,
  outbox,
  carriedSessions,
];
