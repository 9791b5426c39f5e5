import type { Transaction } from 'sequelize';
import { withTimeout } from '../../context/deadline.js';
import type { Core } from '../../core/core.js';
import { retryAfterRace } from '../../database/faults.js';
import { AuthError } from '../../errors.js';
import { say } from '../../phrases.js';
import type { SessionWithUser } from '../../sessions/sessions.js';
import type { Shown } from '../../sessions/signed-in.js';
import { canonicalEmail } from '../../users/canonical.js';
import { EmailProof } from '../../users/email-proof.js';
import type { FieldValues } from '../../users/fields.js';
import type { UserRecord } from '../../users/record.js';
import type { Identity } from './client.js';
import { type AccountRow, providerNotices } from './declarations.js';
import { describe } from './openid-client.js';
import { type Claims, isSamePerson, type Provider } from './provider.js';
import { nameOf, type OAuthServices } from './services.js';
import { isObject } from './token-response.js';

/** The account of a user at a provider. */
export interface FoundUser extends UserRecord {
  /** Whether the account has just been created. @default false */
  readonly isNew?: boolean;
}

/** A user at a provider, whom the provider has just identified, and their account here. */
export class ProviderUser {
  constructor(
    private readonly oauth: OAuthServices,
    private readonly provider: Provider,
    readonly identity: Identity,
  ) {}

  /** How the user has authenticated. */
  get shown(): Shown {
    return { amr: ['fed'], provider: this.provider.id };
  }

  /**
   * Finds the user's account, or creates one.
   *
   * An email that the provider has not verified is not looked up, because the outcome would reveal to anyone whether an
   * account exists. A verified email alone never signs in to an existing account. With `linkByVerifiedEmail`, it does
   * if the provider's verification is strong enough and the mailbox is proven on the account too. Otherwise, the
   * account might belong to someone who signed up with another person's address.
   *
   * @throws AuthError `account_exists`; `provider_already_linked` if the user found by email has linked another account
   *   at the provider; for a new user `sign_up_refused`, `sign_up_incomplete`, `rate_limited`, and the errors of hooks
   */
  findOrCreate(): Promise<FoundUser> {
    const { core, linkByVerifiedEmail } = this.oauth;
    const { emailProof, joins, email: given } = this.identity.profile;
    const email = emailProof.reaches('provider') ? canonicalEmail(given) : null;
    let person: NewPerson | undefined;
    return inRace(async () => {
      const known = await this.#signInKnown();
      if (known) return known;

      const holder = email ? await core.users.findRecord({ email }) : null;
      if (holder) {
        // A concurrent sign-in of the same person might have created the user and the account in the meantime.
        const knownByNow = await this.#signInKnown();
        if (knownByNow) return knownByNow;
        if (!linkByVerifiedEmail || !joins || !holder.emailProof.reaches('mailbox'))
          throw new AuthError('account_exists');
        return this.#linkByEmail(holder);
      }
      await core.signUp.requireOpen('oauth', emailProof.reaches('mailbox') ? email : null);
      if (!person) await core.limiter.countAddress('signUp');
      const isMailed = email !== null && !emailProof.reaches('mailbox');
      if (!person && isMailed) await core.limiter.countAddress('mailAddress');
      person ??= await readPerson(core, this.provider, this.identity);
      return this.#create(email, person);
    });
  }

  /**
   * Links the identity to a signed-in user. If it is already linked to this user, its tokens are updated.
   *
   * @throws AuthError `account_linked_elsewhere`, `provider_already_linked`; `invalid_session` if the session has
   *   ended in the meantime
   */
  linkTo({ user: { id: userId }, session }: SessionWithUser): Promise<void> {
    return inRace(async () => {
      const known = (await this.#find())?.account ?? null;
      if (known && known.userId !== userId) throw new AuthError('account_linked_elsewhere');
      // The link was created with another client of the same issuer, and cannot store the tokens of this client.
      if (known && known.provider !== this.provider.id) throw new AuthError('provider_already_linked');
      return this.oauth.core.change(userId, { sessionId: session.id }, async (record, transaction) => {
        if (known && (await this.updateTokens(known, transaction))) return;
        // Two callbacks of the same person can run at the same time.
        await this.#linkOrUpdate(record, transaction);
      });
    });
  }

  /** Returns an account's link to the provider, if the identity is the linked one. */
  async linkOf(userId: string): Promise<AccountRow | null> {
    const found = await this.#find();
    const isOwn = found?.record.user.id === userId && found.account.provider === this.provider.id;
    return isOwn ? found.account : null;
  }

  /** Stores the identity's tokens with its link. @returns whether the link still exists */
  updateTokens(linked: AccountRow, transaction?: Transaction): Promise<boolean> {
    return this.oauth.accounts.updateTokens(linked, this.identity, transaction);
  }

  #find() {
    return this.oauth.accounts.findByIdentity(this.provider, this.identity);
  }

  async #signInKnown(): Promise<UserRecord | null> {
    const found = await this.#find();
    if (!found) return null;
    const { account, record } = found;
    this.oauth.core.checkAccount(record.account);
    // Another client of the same issuer identifies the same user, but its tokens do not belong to this link.
    if (account.provider === this.provider.id && !(await this.updateTokens(account))) return null;
    return record;
  }

  /** Links the identity to the account that has verified the same email. */
  #linkByEmail(holder: UserRecord): Promise<UserRecord> {
    const { core } = this.oauth;
    return core.database.transaction(async (transaction) => {
      const record = await core.users.lock(holder.user.id, transaction);
      // The account's email might have changed in the meantime.
      const isHolder = record?.user.email === holder.user.email && record?.emailProof.reaches('mailbox');
      if (!record || !isHolder) throw new AuthError('account_exists');
      core.checkAccount(record.account);
      // A link is a sign-in method, so it is not added before the user has provided the second factor.
      if (!core.secondFactors.reached(record, this.shown)) throw new AuthError('account_exists');
      await this.#linkOrUpdate(record, transaction);
      return record;
    });
  }

  /**
   * Links the identity to an account, or updates its tokens if it is linked by now. The user's row is locked.
   *
   * @throws AuthError `provider_already_linked` if the user has linked another account there
   */
  async #linkOrUpdate(record: UserRecord, transaction: Transaction): Promise<void> {
    const { core, accounts } = this.oauth;
    const { provider } = this;
    const { issuer, profile } = this.identity;
    const { id: userId } = record.user;
    const linked = await accounts.find(userId, provider.id, transaction);
    const person = { issuer, providerAccountId: profile.subject };
    if (linked && !isSamePerson(provider, linked, person, profile.formerSubject))
      throw new AuthError('provider_already_linked');
    if (linked && (await this.updateTokens(linked, transaction))) return;
    const details = { subject: provider.id, subjectName: nameOf(this.oauth, provider.id) };
    await core.notices.before(providerNotices['provider-linked'], record, transaction, details);
    await this.#insertLink(userId, transaction);
    await accounts.announceChange(userId, transaction);
  }

  async #insertLink(userId: string, transaction: Transaction): Promise<void> {
    const { core, accounts } = this.oauth;
    const { issuer, profile, tokens } = this.identity;
    const provider = this.provider.id;
    const owner = { userId, provider, issuer, providerAccountId: String(profile.subject) };
    await accounts.insert(owner, tokens, transaction);
    core.events.emit('account.linked', { userId, provider }, transaction);
  }

  #create(email: string | null, { claims, fields }: NewPerson): Promise<FoundUser> {
    const { core } = this.oauth;
    const emailProof = email === null ? EmailProof.none : this.identity.profile.emailProof;
    return core.database.transaction(async (transaction) => {
      const created = await core.signUp.create(
        { email, username: null, passwordHash: null, emailProof },
        { via: 'oauth', from: 'code', provider: this.provider.id, claims, fields },
        transaction,
      );
      await this.#insertLink(created.user.id, transaction);
      if (!emailProof.reaches('mailbox')) await core.emailVerification?.mailSignUp(created.user, transaction);
      return { ...created, isNew: true };
    });
  }
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
      detail: say('provider-without-fields', { fields: missing }),
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
