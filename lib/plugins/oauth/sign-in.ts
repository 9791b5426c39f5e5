import type { Transaction } from 'sequelize';
import type { Core } from '../../core.js';
import { violatedUnique } from '../../database/faults.js';
import { AuthError } from '../../errors.js';
import { canonicalEmail } from '../../identity.js';
import type { User } from '../../models/user.js';
import type { SessionWithUser } from '../../sessions.js';
import type { Accounts } from './accounts.js';
import type { Identity } from './client.js';

const MAX_ATTEMPTS = 3;

/** What came of an identity that a provider proved. */
export interface SignInOutcome {
  readonly user: User;
  readonly authEpoch: number;
  readonly userCreated: boolean;
  readonly accountLinked: boolean;
}

/**
 * The user behind an identity, made where there is none.
 *
 * An equal email alone never opens an account: whoever could make a provider name somebody's address would be in. It
 * does with `linkByVerifiedEmail`, and where both sides are proved, ours too: an unproved account may have been made
 * by somebody else, who waits for its owner.
 *
 * @throws AuthError `account_exists`; `provider_already_linked` where it would join by its email, and may not as a second
 *   account of its provider
 */
export function findOrCreateUser(
  core: Core,
  accounts: Accounts,
  provider: string,
  identity: Identity,
  linkByVerifiedEmail: boolean,
): Promise<SignInOutcome> {
  return againAfterRace(async () => {
    const known = await signInKnown(accounts, provider, identity);
    if (known) return known;

    const email = canonicalEmail(identity.profile.email);
    const holder = email ? await core.users.findForSignIn({ email }) : null;
    if (holder) {
      // Another return of the same person may have made both the user and the account since we looked.
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
 * @returns whether it is new; false where it was linked already, and now has newer tokens
 * @throws AuthError `account_linked_elsewhere`, `provider_already_linked`; `invalid_flow` where the session ended meanwhile
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

// The provider may have taken seconds, in which the session can have ended: the flow, which belongs to it, has too then.
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
): Promise<SignInOutcome | null> {
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

function ownerOf(userId: string, provider: string, { issuer, profile }: Identity) {
  return { userId, provider, issuer, subject: String(profile.subject) };
}

/** Two returns of one person at once both find nothing and both insert: the one that loses looks again. */
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
