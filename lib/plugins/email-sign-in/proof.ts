import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { hasPasskey } from '../../tables/factors.js';
import type { UserRecord } from '../../users/record.js';

/**
 * Whether an account has no password, passkey or second factor, so that its email is its only possible proof. A
 * linked provider does not matter, because few of them say when the user has authenticated.
 *
 * @param hasPasskey the result of {@link passkeySql}
 */
export function hasOnlyEmail(core: Core, record: UserRecord, hasPasskey: boolean): boolean {
  const hasPassword = core.passwords !== null && record.passwordHash !== null;
  return !hasPassword && !core.secondFactors.isOn(record.account) && !hasPasskey;
}

/** Returns a column of a statement that reads the user `u`: 1 if they have a passkey, and 0 otherwise. */
export function passkeySql({ passkeys, database }: Core): string {
  return passkeys === null ? '0' : `CASE WHEN ${hasPasskey(database).sql('u', '')} THEN 1 ELSE 0 END`;
}

/** Reads whether a user has a passkey. */
export async function readsPasskey(core: Core, userId: string, transaction?: Transaction): Promise<boolean> {
  const sql = `SELECT ${passkeySql(core)} AS has_passkey FROM ${core.users.selection.from} WHERE u.id = :userId`;
  const [row] = await core.database.select<{ has_passkey: number }>(sql, { userId }, transaction);
  return Number(row?.has_passkey) === 1;
}
