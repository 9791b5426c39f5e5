import type { OldUser, OldUserId } from '../config/bridge.js';
import { isUuid } from '../crypto/uuid.js';
import { type AppModel, columnOf, internalsOf, quotedTable } from './app-model.js';
import { canonicalEmail } from './canonical.js';
import type { Core } from './core.js';
import type { UserRecord } from './user-record.js';

/** The account of an older system's user. Null if there is none, or if it cannot be told that it is theirs. */
export async function accountOf(
  core: Core,
  { id, email, emailVerified }: OldUser,
): Promise<UserRecord | null> {
  const byId = id === null || id === undefined ? null : await accountById(core, id);
  if (byId || emailVerified !== true) return byId;
  const canonical = canonicalEmail(email);
  const record = canonical === null ? null : await core.users.findRecord({ email: canonical });
  // Somebody else may have signed up with the address, on either side.
  return record && record.user.emailVerifiedAt !== null ? record : null;
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
  const [key, ...others] = model.primaryKeyAttributes;
  if (key === undefined || others.length > 0 || !canBe(model, key, id)) return null;
  const { queryGenerator } = internalsOf(model).getQueryInterface();
  const column = (attribute: string) => queryGenerator.quoteIdentifier(columnOf(model, attribute));
  const rows = await database.select<{ row_key: unknown; account_id: string | null }>(
    `SELECT ${column(key)} AS row_key, ${column(foreignKey)} AS account_id FROM ${quotedTable(model)}
     WHERE ${column(key)} = :id`,
    { id: String(id) },
  );
  // MySQL's collations ignore case and trailing spaces.
  return rows.find(({ row_key }) => String(row_key) === String(id))?.account_id ?? null;
}

/** Databases fail on keys of another type, or take `'42abc'` for 42. */
function canBe(model: AppModel, key: string, id: OldUserId): boolean {
  const type = String((model.getAttributes()[key]?.type as { key?: unknown } | undefined)?.key);
  if (/INT/.test(type)) return /^(0|[1-9]\d{0,17})$/.test(String(id));
  return type !== 'UUID' || isUuid(String(id));
}
