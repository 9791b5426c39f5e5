import type { Transaction } from 'sequelize';
import type { Contribution } from '../core/contribution.js';
import type { UserRecord } from '../users/user-record.js';

/** The ways into an account at some time, as JSON. */
export interface AccountState {
  readonly email: string | null;
  readonly emailVerifiedAt: string | null;
  readonly mailboxProvedAt: string | null;
  readonly username: string | null;
  /** The hash of the password then, which is a proof and is never put back. */
  readonly passwordHash: string | null;
  /** The parts of plugins, by the names of their `wayBack`. */
  readonly parts: Readonly<Record<string, unknown>>;
}

/** The state of an account as it is. The user's row is locked. */
export async function stateOf(
  { user, account, passwordHash }: UserRecord,
  contributions: readonly Contribution[],
  transaction: Transaction,
): Promise<AccountState> {
  const parts: Record<string, unknown> = {};
  for (const { wayBack } of contributions)
    if (wayBack) parts[wayBack.name] = await wayBack.snapshot(user.id, transaction);
  const { mailboxProvedAt } = account as { readonly mailboxProvedAt?: Date | null };
  return {
    email: user.email,
    emailVerifiedAt: user.emailVerifiedAt?.toISOString() ?? null,
    mailboxProvedAt: mailboxProvedAt?.toISOString() ?? null,
    username: user.username,
    passwordHash,
    parts,
  };
}

/** Whether putting a state back would take away a second factor that the account has now. */
export function losesSecondFactor(
  record: UserRecord,
  { parts }: AccountState,
  contributions: readonly Contribution[],
): boolean {
  return contributions.some(
    ({ wayBack }) => wayBack?.losesSecondFactor?.(record, parts[wayBack.name]) ?? false,
  );
}
