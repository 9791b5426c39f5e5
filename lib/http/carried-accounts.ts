import type { OldUser, OldUserId } from '../config/bridge.js';
import type { Core } from '../core/core.js';
import { usernamesOf } from '../core/usernames.js';
import { isUuid } from '../crypto/uuid.js';
import { type AppModel, columnOf, internalsOf, quotedTable } from '../users/app-model.js';
import { canonicalEmail } from '../users/canonical.js';
import { importedId } from '../users/imported-id.js';
import { normalKey } from '../users/row-keys.js';
import type { UserRecord } from '../users/user-record.js';

/** The account of an older system's user. Null if there is none, or if it cannot be told that it is theirs. */
export async function accountOf(core: Core, user: OldUser): Promise<UserRecord | null> {
  const { id = null } = user;
  const known = (id === null ? null : await accountById(core, id)) ?? (await importedAccount(core, user));
  if (known || user.emailVerified !== true) return known;
  const canonical = canonicalEmail(user.email);
  const record = canonical === null ? null : await core.users.findRecord({ email: canonical });
  // Somebody else may have signed up with the address, on either side.
  return record && record.user.emailVerifiedAt !== null ? record : null;
}

/** The account that was imported from the user's row. */
async function importedAccount(core: Core, { email, imported }: OldUser): Promise<UserRecord | null> {
  if (!imported) return null;
  const { ref, username = null, createdAt = null } = imported;
  const folded = username === null ? null : (usernamesOf(core)?.fold(username) ?? null);
  const names = [canonicalEmail(email), folded];
  return core.users.findRecord({ id: importedId({ ref: String(ref), names, createdAt }) });
}

async function accountById(core: Core, id: OldUserId): Promise<UserRecord | null> {
  const model = core.users.rows?.model;
  const ofRow = model ? await accountIdOfRow(core, model, core.settings.user.foreignKey, id) : null;
  const accountId = ofRow ?? String(id).toLowerCase();
  return isUuid(accountId) ? core.users.findRecord({ id: accountId }) : null;
}

/** The account's id in the app's row with this primary key. Null if there is none. */
async function accountIdOfRow(
  { database }: Core,
  model: AppModel,
  foreignKey: string,
  id: OldUserId,
): Promise<string | null> {
  const [attribute, ...others] = model.primaryKeyAttributes;
  const key = attribute === undefined || others.length > 0 ? null : normalKey(model, id);
  if (attribute === undefined || key === null) return null;
  const { queryGenerator } = internalsOf(model).getQueryInterface();
  const column = (one: string) => queryGenerator.quoteIdentifier(columnOf(model, one));
  const rows = await database.select<{ row_key: unknown; account_id: string | null }>(
    `SELECT ${column(attribute)} AS row_key, ${column(foreignKey)} AS account_id FROM ${quotedTable(model)}
     WHERE ${column(attribute)} = :key`,
    { key },
  );
  // MySQL's collations ignore case and trailing spaces.
  return rows.find(({ row_key }) => String(row_key) === key)?.account_id ?? null;
}
