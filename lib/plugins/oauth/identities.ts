import type { Transaction } from 'sequelize';
import { canonicalEmail } from '../../core/canonical.js';
import type { Core } from '../../core/core.js';
import type { SessionWithUser } from '../../core/sessions.js';
import type { Proof } from '../../core/sign-in.js';
import { violatedUnique } from '../../database/faults.js';
import { AuthError } from '../../errors.js';
import type { User } from '../../models/user.js';
import type { AccountOwner, Accounts } from './accounts.js';
import type { Identity } from './client.js';

const MAX_ATTEMPTS = 3;

/** The user whom a provider has signed in. */
export interface FoundUser extends Proof {
  readonly userCreated: boolean;
  readonly accountLinked: boolean;
}

/**
 * The user with an identity, created if there is none.
 *
 * An equal email alone never opens an account: anyone who can make a provider name somebody's address would get in. It
 * does with `linkByVerifiedEmail`, if the email is proved on both sides: an account whose email is not proved may have
 * been created by somebody else, who waits for its owner.
 *
 * @throws AuthError `account_exists`; `provider_already_linked` if it would join an account by its email that already has
 *   another account of the provider
 */
export function findOrCreateUser(
  core: Core,
  accounts: Accounts,
  provider: string,
  identity: Identity,
  linkByVerifiedEmail: boolean,
): Promise<FoundUser> {
  return againAfterRace(async () => {
    const known = await signInKnown(accounts, provider, identity);
    if (known) return known;

    const email = canonicalEmail(identity.profile.email);
    const holder = email ? await core.users.findRecord({ email }) : null;
    if (holder) {
      // Another return of the same person may have created both the user and the account in the meantime.
      const knownByNow = await signInKnown(accounts, provider, identity);
      if (knownByNow) return knownByNow;
      const bothProved = identity.profile.emailIsProof && holder.user.emailVerifiedAt !== null;
      if (!linkByVerifiedEmail || !bothProved) throw new AuthError('account_exists');
      if (await accounts.find(holder.user.id, provider)) throw new AuthError('provider_already_linked');
      await accounts.insert(ownerOf(holder.user.id, provider, identity), identity.tokens);
      const { user, authEpoch } = holder;
      return { user, authEpoch, userCreated: false, accountLinked: true };
    }
    const user = await createUser(core, accounts, provider, identity, email);
    return { user, authEpoch: 0, userCreated: true, accountLinked: true };
  });
}

/**
 * Links an identity to a user who is signed in.
 *
 * @returns whether it is new; false if it was linked already, and now has newer tokens
 * @throws AuthError `account_linked_elsewhere`, `provider_already_linked`; `invalid_flow` if the session has ended in the
 *   meantime
 */
export function linkIdentity(
  core: Core,
  accounts: Accounts,
  { user: { id: userId }, session }: SessionWithUser,
  provider: string,
  identity: Identity,
): Promise<boolean> {
  return againAfterRace(async () => {
    const known = await accounts.findBySubject(identity.issuer, String(identity.profile.subject));
    if (known && known.userId !== userId) throw new AuthError('account_linked_elsewhere');
    // Another client of the same issuer: its tokens are not this account's.
    if (known && known.provider !== provider) throw new AuthError('provider_already_linked');
    if (!known && (await accounts.find(userId, provider))) throw new AuthError('provider_already_linked');
    await inNameOfLinker(core, userId, session.id, (transaction) =>
      known
        ? accounts.updateTokens(known, identity.tokens, transaction)
        : accounts.insert(ownerOf(userId, provider, identity), identity.tokens, transaction),
    );
    return known === null;
  });
}

// The provider may have taken seconds, in which the session can have ended; then the flow has ended with it.
async function inNameOfLinker(
  core: Core,
  userId: string,
  sessionId: string,
  work: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  try {
    await core.inNameOf(userId, sessionId, work);
  } catch (error) {
    const hasEnded = error instanceof AuthError && /^(invalid_session|user_not_found)$/.test(error.code);
    throw hasEnded ? new AuthError('invalid_flow') : error;
  }
}

async function signInKnown(
  accounts: Accounts,
  provider: string,
  identity: Identity,
): Promise<FoundUser | null> {
  const found = await accounts.findWithUser(identity.issuer, String(identity.profile.subject));
  if (!found) return null;
  const { account, user, authEpoch } = found;
  // Another client of the same issuer proves the same person, but its tokens are not this account's.
  if (account.provider === provider) await accounts.updateTokens(account, identity.tokens);
  return { user, authEpoch, userCreated: false, accountLinked: false };
}

function createUser(
  core: Core,
  accounts: Accounts,
  provider: string,
  identity: Identity,
  email: string | null,
): Promise<User> {
  const proved = identity.profile.emailIsProof ? email : null;
  return core.database.transaction(async (transaction) => {
    const user = await core.users.create(
      { email: proved, username: null, passwordHash: null, emailVerified: proved !== null },
      transaction,
    );
    await accounts.insert(ownerOf(user.id, provider, identity), identity.tokens, transaction);
    return user;
  });
}

function ownerOf(userId: string, provider: string, { issuer, profile }: Identity): AccountOwner {
  return { userId, provider, issuer, providerAccountId: String(profile.subject) };
}

/** Two returns of one person at once both find nothing and both insert: the one that fails looks again. */
async function againAfterRace<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const lostRace = violatedUnique(error) || (error instanceof AuthError && error.code === 'email_taken');
      if (!lostRace || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
