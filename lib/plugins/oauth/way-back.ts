import type { WayBack } from '../../core/contribution.js';
import type { Accounts } from './accounts.js';
import type { AccountRow } from './declarations.js';

/** A linked account as JSON, without tokens: these are for the provider, not a way in. */
interface StoredLink extends Pick<AccountRow, 'id' | 'provider' | 'issuer' | 'providerAccountId' | 'scopes'> {
  readonly createdAt: string;
}

/**
 * Undoing a change removes the links that were added since, and adds again those that were removed: without tokens, so that
 * the account must be linked again before these can be used.
 */
export function wayBack(accounts: Accounts): WayBack {
  return {
    name: 'oauth',
    async snapshot(userId, transaction) {
      return (await accounts.list(userId, transaction)).map(
        ({ id, provider, issuer, providerAccountId, scopes, createdAt }): StoredLink => ({
          id,
          provider,
          issuer,
          providerAccountId,
          scopes,
          createdAt: createdAt.toISOString(),
        }),
      );
    },
    async restore({ user: { id: userId } }, part, transaction) {
      const links = ((part ?? []) as readonly StoredLink[]).map(({ createdAt, ...link }) => ({
        ...link,
        userId,
        createdAt: new Date(createdAt),
      }));
      const now = await accounts.list(userId, transaction);
      const isIn = (all: readonly Link[], one: Link) => all.some((other) => isSame(one, other));
      for (const account of now) if (!isIn(links, account)) await accounts.delete(account.id, transaction);
      for (const link of links) if (!isIn(now, link)) await accounts.restore(link, transaction);
    },
  };
}

type Link = Pick<AccountRow, 'id' | 'provider' | 'issuer' | 'providerAccountId'>;

/** The issuer of a link changes when it moves to the current one of its provider. */
function isSame(one: Link, other: Link): boolean {
  const { provider, issuer, providerAccountId } = other;
  if (one.provider !== provider || one.providerAccountId !== providerAccountId) return false;
  return one.id === other.id || one.issuer === issuer;
}
