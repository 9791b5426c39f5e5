import type { Transaction } from 'sequelize';
import { passwordNotices } from '../../accounts/passwords.js';
import type { Core } from '../../core/core.js';
import { digestToken } from '../../crypto/token.js';
import type { Proven } from '../../sessions/completion.js';
import { EmailProof } from '../../users/email-proof.js';
import type { UserRecord } from '../../users/record.js';

/**
 * Records that a user has access to the mailbox. The first proof removes everything that was attached to the account
 * before it, except for the second factor. In a browser of the account, it removes nothing. The user's row is locked.
 */
export async function recordProof(
  core: Core,
  record: UserRecord,
  isOwn: boolean,
  transaction: Transaction,
): Promise<Proven> {
  const left = await core.proofs.record(
    record,
    { proof: EmailProof.answeredMail, isOwn, keepsFactors: true },
    transaction,
  );
  const passwordRemoved = record.passwordHash !== null && left.passwordHash === null;
  // The notice has no undo link, because the removed password might be known to the person who would undo this.
  if (passwordRemoved) {
    await core.notices.plain(removedNotice, left.user, transaction);
    core.events.emit('password.removed', { userId: left.user.id }, transaction);
  }
  return { record: left, passwordRemoved };
}

const removedNotice = {
  ...passwordNotices['password-removed'],
  lines: [
    'Someone signed in to your account with a code that was emailed to this address, for the first time. Your account had a password that someone else might have chosen before, so it was removed.',
    'If you want to sign in with a password, choose a new one.',
  ],
};

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
export function passkeySql({ contributions }: Core): string {
  const conditions = contributions.flatMap(({ reauthenticatesSql: sql }) => sql ?? []);
  return conditions.length === 0 ? '0' : `CASE WHEN ${conditions.join(' OR ')} THEN 1 ELSE 0 END`;
}

/** Reads whether a user has a passkey. */
export async function readsPasskey(core: Core, userId: string, transaction?: Transaction): Promise<boolean> {
  const sql = `SELECT ${passkeySql(core)} AS has_passkey FROM ${core.users.selection.from} WHERE u.id = :userId`;
  const [row] = await core.database.select<{ has_passkey: number }>(sql, { userId }, transaction);
  return Number(row?.has_passkey) === 1;
}

/** Returns the hash that identifies the reauthentication of a session. No browser has a token with this hash. */
export function reauthenticationOf(sessionId: string): Buffer {
  return digestToken(`reauthenticate ${sessionId}`);
}
