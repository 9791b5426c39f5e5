import type { PasskeyRow } from '../../tables/factors.js';

/** The name of the passkeys in snapshots of accounts. */
export const PASSKEYS_PART = 'passkeys';

/** A passkey as JSON. */
type StoredPasskey = Omit<PasskeyRow, 'userId' | 'credentialHash' | 'createdAt' | 'lastUsedAt'> & {
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

/** A passkey that an account had. */
export type EarlierPasskey = Omit<PasskeyRow, 'userId' | 'credentialHash'>;

/** Returns a passkey as a snapshot stores it. */
export function storedOf({ userId: _, credentialHash: __, ...row }: PasskeyRow): StoredPasskey {
  return {
    ...row,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}

/** Returns the passkeys in a snapshot. A snapshot from before this plugin was added has none. */
export function storedIn(part: unknown): readonly EarlierPasskey[] {
  return ((part ?? []) as readonly StoredPasskey[]).map(({ createdAt, lastUsedAt, ...row }) => ({
    ...row,
    createdAt: new Date(createdAt),
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt),
  }));
}
