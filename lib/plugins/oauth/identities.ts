import type { Transaction } from 'sequelize';
import { withTimeout } from '../../context/deadline.js';
import type { Core } from '../../core/core.js';
import { retryAfterRace } from '../../database/faults.js';
import { AuthError } from '../../errors.js';
import type { SessionWithUser } from '../../sessions/sessions.js';
import type { Shown } from '../../sessions/signed-in.js';
import { canonicalEmail } from '../../users/canonical.js';
import { EmailProof } from '../../users/email-proof.js';
import type { FieldValues } from '../../users/fields.js';
import type { UserRecord } from '../../users/record.js';
import type { AccountOwner, Accounts } from './accounts.js';
import type { Identity } from './client.js';
import { type AccountRow, providerNotices } from './declarations.js';
import { describe } from './openid-client.js';
import { type Claims, isSamePerson, type Provider } from './provider.js';
import { isObject } from './token-response.js';

/** The user of an identity. */
export interface FoundUser extends UserRecord {
  /** Whether the account has just been created. @default false */
  readonly isNew?: boolean;
}

/**
 * Finds the user of an identity, or creates one.
 *
 * An email that the provider has not verified is not looked up, because the outcome would reveal to anyone whether an
 * account exists. A verified email alone never signs in to an existing account. With `linkByVerifiedEmail`, it does if
 * the provider's verification is strong enough and the mailbox is proven on the account too. Otherwise, the account
 * might belong to someone who signed up with another person's address.
 *
 * @throws AuthError `account_exists`; `provider_already_linked` if the user found by email has linked another account
 *   at the provider; for a new user `sign_up_refused`, `sign_up_incomplete`, `rate_limited`, and the errors of hooks
 */
export function findOrCreateUser(
  core: Core,
  accounts: Accounts,
  provider: Provider,
  identity: Identity,
  linkByVerifiedEmail: boolean,
): Promise<FoundUser> {
  const { emailProof, joins } = identity.profile;
  const email = emailProof.reaches('provider') ? canonicalEmail(identity.profile.email) : null;
  let person: NewPerson | undefined;
  return inRace(async () => {
    const known = await signInKnown(core, accounts, provider, identity);
    if (known) return known;

    const holder = email ? await core.users.findRecord({ email }) : null;
    if (holder) {
      // A concurrent sign-in of the same person might have created the user and the account in the meantime.
      const knownByNow = await signInKnown(core, accounts, provider, identity);
      if (knownByNow) return knownByNow;
      if (!linkByVerifiedEmail || !joins || !holder.emailProof.reaches('mailbox'))
        throw new AuthError('account_exists');
      return linkByEmail(core, accounts, holder, provider, identity);
    }
    core.signUp.checkOpen('oauth');
    if (!person) await core.limiter.countAddress('signUp');
    const isMailed = email !== null && !emailProof.reaches('mailbox');
    if (!person && isMailed) await core.limiter.countAddress('mailAddress');
    person ??= await readPerson(core, provider, identity);
    return createUser(core, accounts, provider, identity, email, person);
  });
}

/**
 * Links an identity to a signed-in user. If the identity is already linked to this user, its tokens are updated.
 *
 * @throws AuthError `account_linked_elsewhere`, `provider_already_linked`; `invalid_session` if the session has
 *   ended in the meantime
 */
export function linkIdentity(
  core: Core,
  accounts: Accounts,
  { user: { id: userId }, session }: SessionWithUser,
  provider: Provider,
  identity: Identity,
): Promise<void> {
  return inRace(async () => {
    const known = (await accounts.findByIdentity(provider, identity))?.account ?? null;
    if (known && known.userId !== userId) throw new AuthError('account_linked_elsewhere');
    // The link was created with another client of the same issuer, and cannot store the tokens of this client.
    if (known && known.provider !== provider.id) throw new AuthError('provider_already_linked');
    return core.change(userId, { sessionId: session.id }, async (record, transaction) => {
      if (known && (await accounts.updateTokens(known, identity, transaction))) return;
      // Two callbacks of the same person can run at the same time.
      const linked = await linkAt(accounts, userId, provider, identity, transaction);
      if (linked && (await accounts.updateTokens(linked, identity, transaction))) return;
      await addLink(core, accounts, record, provider, identity, transaction);
    });
  });
}

/** Returns how a user who signed in at a provider has authenticated. */
export function shownBy({ id }: Provider): Shown {
  return { amr: ['fed'], provider: id };
}

/** Returns the user's link to a provider, if the identity is the linked one. */
export async function ownAccount(
  accounts: Accounts,
  userId: string,
  provider: Provider,
  identity: Identity,
): Promise<AccountRow | null> {
  const found = await accounts.findByIdentity(provider, identity);
  return found?.record.user.id === userId && found.account.provider === provider.id ? found.account : null;
}

/** Links an identity to the account that has verified the same email. */
function linkByEmail(
  core: Core,
  accounts: Accounts,
  holder: UserRecord,
  provider: Provider,
  identity: Identity,
): Promise<UserRecord> {
  return core.database.transaction(async (transaction) => {
    const record = await core.users.lock(holder.user.id, transaction);
    // The account's email might have changed in the meantime.
    const isHolder = record?.user.email === holder.user.email && record?.emailProof.reaches('mailbox');
    if (!record || !isHolder) throw new AuthError('account_exists');
    core.checkAccount(record.account);
    // A link is a sign-in method, so it is not added before the user has provided the second factor.
    if (!core.secondFactors.reached(record, shownBy(provider))) throw new AuthError('account_exists');
    const linked = await linkAt(accounts, record.user.id, provider, identity, transaction);
    if (linked && (await accounts.updateTokens(linked, identity, transaction))) return record;
    await addLink(core, accounts, record, provider, identity, transaction);
    return record;
  });
}

/**
 * Returns the user's link to this person at the provider, if there is one. The user's row is locked.
 *
 * @throws AuthError `provider_already_linked` if the user has linked another account there
 */
async function linkAt(
  accounts: Accounts,
  userId: string,
  provider: Provider,
  { issuer, profile }: Identity,
  transaction: Transaction,
): Promise<AccountRow | null> {
  const linked = await accounts.find(userId, provider.id, transaction);
  const person = { issuer, providerAccountId: profile.subject };
  if (linked && !isSamePerson(provider, linked, person, profile.formerSubject))
    throw new AuthError('provider_already_linked');
  return linked;
}

async function addLink(
  core: Core,
  accounts: Accounts,
  record: UserRecord,
  provider: Provider,
  identity: Identity,
  transaction: Transaction,
): Promise<void> {
  const details = { subject: provider.id };
  await core.notices.before(providerNotices['provider-linked'], record, transaction, details);
  await insertLink(core, accounts, record, provider, identity, transaction);
  await accounts.announceChange(record.user.id, transaction);
}

async function insertLink(
  core: Core,
  accounts: Accounts,
  { user: { id: userId } }: UserRecord,
  provider: Provider,
  identity: Identity,
  transaction: Transaction,
): Promise<void> {
  await accounts.insert(ownerOf(userId, provider, identity), identity.tokens, transaction);
  core.events.emit('account.linked', { userId, provider: provider.id }, transaction);
}

async function signInKnown(
  core: Core,
  accounts: Accounts,
  provider: Provider,
  identity: Identity,
): Promise<UserRecord | null> {
  const found = await accounts.findByIdentity(provider, identity);
  if (!found) return null;
  const { account, record } = found;
  core.checkAccount(record.account);
  // Another client of the same issuer identifies the same user, but its tokens do not belong to this link.
  if (account.provider === provider.id && !(await accounts.updateTokens(account, identity))) return null;
  return record;
}

function createUser(
  core: Core,
  accounts: Accounts,
  provider: Provider,
  identity: Identity,
  email: string | null,
  { claims, fields }: NewPerson,
): Promise<FoundUser> {
  const emailProof = email === null ? EmailProof.none : identity.profile.emailProof;
  return core.database.transaction(async (transaction) => {
    const created = await core.signUp.create(
      { email, username: null, passwordHash: null, emailProof },
      { via: 'oauth', from: 'code', provider: provider.id, claims, fields },
      transaction,
    );
    await insertLink(core, accounts, created, provider, identity, transaction);
    if (!emailProof.reaches('mailbox'))
      for (const { mailVerification } of core.contributions)
        await mailVerification?.(created.user, transaction);
    return { ...created, isNew: true };
  });
}

function ownerOf(userId: string, provider: Provider, { issuer, profile }: Identity): AccountOwner {
  return { userId, provider: provider.id, issuer, providerAccountId: String(profile.subject) };
}

/** Retries after a race, because two concurrent callbacks of one user can both find no account and then insert one. */
async function inRace<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await retryAfterRace(['email_taken'], work);
  } catch (error) {
    // No account has the email now, but an undo might restore it to an account, which then counts as having it.
    const isHeld = error instanceof AuthError && error.code === 'email_taken';
    throw isHeld ? new AuthError('account_exists') : error;
  }
}

const FIELDS_MS = 2000;

/** A user who does not have an account yet. */
export interface NewPerson {
  /** The provider's claims. They are frozen, because they are passed to the app's code. */
  readonly claims: Claims;
  readonly fields: FieldValues;
}

/**
 * Calls the app's function that returns the fields of a new user. Values that break the rules of their field are
 * omitted.
 *
 * @throws AuthError `sign_up_incomplete` if a required field is missing; `provider_error` if the function throws or
 *   takes longer than 2 seconds
 */
async function readPerson(core: Core, provider: Provider, identity: Identity): Promise<NewPerson> {
  const { log } = core.settings;
  try {
    const claims = frozen(structuredClone(identity.claims));
    const asked = core.context.detached(async () => provider.fields?.(claims));
    const given = await withTimeout(asked, FIELDS_MS, () => new Error('the function took too long'));
    const fields = core.users.fields.onlyValid(isObject(given) ? given : {});
    const missing = core.users.fields.missingIn({ ...core.users.fields.defaults, ...fields });
    if (missing.length === 0) return { claims, fields };
    const names = missing.join(', ');
    const what = `a new user was refused, since required fields are missing or not valid: ${names}`;
    log.warn('oauth.fields_missing', `provider ${provider.id}: ${what}`, {
      cause: `${provider.id} ${names}`,
    });
    throw new AuthError('sign_up_incomplete', {
      detail: `The provider did not return the required fields: ${names}.`,
    });
  } catch (error) {
    if (error instanceof AuthError) throw error;
    const what = `the fields of a new user could not be read: ${describe(error)}`;
    log.warn('oauth.fields_failed', `provider ${provider.id}: ${what}`, { cause: `${provider.id} ${what}` });
    throw new AuthError('provider_error');
  }
}

/** Freezes a JSON value, without recursion because the provider decides how deeply the value is nested. */
function frozen(claims: Claims): Claims {
  const values: unknown[] = [claims];
  for (const value of values) {
    if (typeof value === 'object' && value !== null) values.push(...Object.values(Object.freeze(value)));
  }
  return claims;
}
