import { uuidOf } from '../crypto/uuid.js';
import { canonicalEmail } from '../users/canonical.js';
import { isCreationTime } from '../users/imported.js';
import type { UserRecord } from '../users/record.js';
import { type AppModel, columnOf, internalsOf, quotedTable } from '../users/row-source.js';
import { normalKey } from '../users/rows.js';
import type { OldSession, OldUser, OldUserId } from './bridge.js';
import { importedId } from './imported-rows.js';
import type { Services } from './services.js';

/**
 * Finds the account of a previous system's user. Returns null if it does not exist, or if it might not be the user's.
 */
export async function accountOf(
  services: Services,
  { user, beganAt }: Pick<OldSession, 'user' | 'beganAt'>,
): Promise<UserRecord | null> {
  const { id = null, ref = null, source = null, imported } = user;
  const known =
    (id === null ? null : await accountById(services, id)) ??
    (await accountByRef(services, ref ?? id ?? imported?.ref ?? null, source)) ??
    (await importedAccount(services, user));
  if (known || user.emailVerified !== true) return known;
  const canonical = canonicalEmail(user.email);
  const record = canonical === null ? null : await services.core.users.findRecord({ email: canonical });
  // Someone else might have signed up with the address, here or in the previous system.
  return record?.emailProof.reaches('app') && (await isEarlier(services, record, user, beganAt))
    ? record
    : null;
}

/**
 * Whether an account with the user's email can have been the user's when the session was created, because addresses can
 * get new owners. An imported account must not belong to another row.
 */
async function isEarlier(
  services: Services,
  { user, account }: UserRecord,
  old: OldUser,
  beganAt: Date | null,
): Promise<boolean> {
  if ((account.importedAt ?? null) === null) return beganAt !== null && user.createdAt < beganAt;
  const ref = old.ref ?? old.imported?.ref ?? old.id ?? null;
  if (ref === null) return true;
  if (await services.rows.isOf(user.id, ref)) return true;
  const names = [user.email, user.username];
  const refs = [String(ref), null].flatMap((one) => [
    importedId({ ref: one, names, createdAt: user.createdAt }),
    importedId({ ref: one, names, createdAt: null }),
  ]);
  return refs.includes(user.id);
}

/** Finds the account of the imported row with this ref. Null if several systems had a row with this ref. */
async function accountByRef(
  services: Services,
  ref: OldUserId | null,
  source: string | null,
): Promise<UserRecord | null> {
  const id = ref === null ? null : await services.rows.userId(ref, source);
  return id === null ? null : services.core.users.findRecord({ id });
}

/** Finds the account whose id the import derived from the user's row. */
async function importedAccount(services: Services, { email, imported }: OldUser): Promise<UserRecord | null> {
  if (!imported) return null;
  const { ref, username = null, createdAt = null } = imported;
  if (createdAt !== null && !isCreationTime(createdAt, services.core.database.clock.now())) return null;
  const folded = username === null ? null : (services.core.usernames?.fold(username) ?? null);
  const names = [canonicalEmail(email), folded];
  return services.core.users.findRecord({ id: importedId({ ref: String(ref), names, createdAt }) });
}

async function accountById(services: Services, id: OldUserId): Promise<UserRecord | null> {
  const model = services.core.users.rows?.model;
  const ofRow = model
    ? await accountIdOfRow(services, model, services.core.settings.user.foreignKey, id)
    : null;
  const accountId = uuidOf(ofRow ?? id);
  return accountId === null ? null : services.core.users.findRecord({ id: accountId });
}

/** Reads the account's id from the app's row with this primary key. Returns null if there is no such row. */
async function accountIdOfRow(
  { core: { database } }: Services,
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
