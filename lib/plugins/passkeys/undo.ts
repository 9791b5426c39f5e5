import type { UndoPart } from '../../notices/changes.js';
import type { Parts } from './assertions.js';
import type { PasskeyRow } from './declarations.js';

/** A passkey as JSON. */
type StoredPasskey = Omit<PasskeyRow, 'userId' | 'credentialHash' | 'createdAt' | 'lastUsedAt'> & {
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

/** Restores the passkeys when a change is undone, and deletes challenges in progress. */
export function undoPart({ store, challenges }: Pick<Parts, 'store' | 'challenges'>): UndoPart {
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
      // A snapshot from before this plugin was added has no passkeys.
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
