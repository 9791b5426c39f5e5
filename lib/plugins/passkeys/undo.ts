import type { WayBack } from '../../notices/changes.js';
import type { Parts } from './assertions.js';
import type { PasskeyRow } from './declarations.js';

/** A passkey as JSON. */
type StoredPasskey = Omit<PasskeyRow, 'userId' | 'credentialHash' | 'createdAt' | 'lastUsedAt'> & {
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

/** Undoing a change puts the passkeys back, and ends what is in progress. */
export function wayBack({ store, challenges }: Pick<Parts, 'store' | 'challenges'>): WayBack {
  return {
    name: 'passkeys',
    async snapshot(userId, transaction) {
      return (await store.rows(userId, transaction)).map(
        ({ userId: _, credentialHash: __, ...row }): StoredPasskey => ({
          ...row,
          createdAt: row.createdAt.toISOString(),
          lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
        }),
      );
    },
    async restore({ user: { id: userId } }, part, transaction) {
      await challenges.deleteAll(userId, transaction);
      // Without this plugin, the account had none.
      const passkeys = (part ?? []) as readonly StoredPasskey[];
      await store.restore(
        userId,
        passkeys.map(({ createdAt, lastUsedAt, ...row }) => ({
          ...row,
          createdAt: new Date(createdAt),
          lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt),
        })),
        transaction,
      );
    },
  };
}
