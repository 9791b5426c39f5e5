import type { Transaction } from 'sequelize';
import { isClosed } from '../accounts/deletion.js';
import { BY_CODE, type Core } from '../core/core.js';
import { violatedUnique } from '../database/faults.js';
import { AuthError, invalidField } from '../errors.js';
import { EmailProof } from '../users/email-proof.js';
import type { FieldValues } from '../users/fields.js';
import type { RowReader, RowValues } from '../users/imported.js';
import { type ImportedLine, originKey } from '../users/imported-users.js';
import type { NewUser, UserRecord } from '../users/record.js';
import type { UserChanges } from '../users/updates.js';
import { isUnproven } from '../verification/email-proofs.js';
import type { AccountOfRow, FoundAccount, Outcomes } from './accounts-of-rows.js';
import { changedKeys, type ImportedRows } from './imported-rows.js';

/** A key of a row whose value was not applied. */
interface Unapplied {
  readonly field: string;
  readonly detail: string;
}

/** The outcome for an account that exists. A list contains the keys that were not applied. */
type Applied = 'updated' | 'unchanged' | readonly Unapplied[];

const FIELD = 'fields.';
const EMAIL_PROOF = 'emailVerified';

/**
 * Returns the values of a row as strings that compare equal, by its keys.
 *
 * @param fields the values of the app's fields that the row names
 */
export function rowValuesOf(
  user: Pick<NewUser, 'email' | 'username' | 'passwordHash' | 'emailProof'>,
  fields: FieldValues,
  values: ReadonlyMap<RowReader, unknown>,
): RowValues {
  return Object.assign(
    ownValuesOf(user, user.emailProof ?? EmailProof.none),
    ...[...values].map(([reader, value]) => reader.valuesOf(value)),
    fieldValuesOf(fields),
  );
}

function ownValuesOf(
  { email, username, passwordHash }: Pick<NewUser, 'email' | 'username' | 'passwordHash'>,
  emailProof: EmailProof,
): Record<string, string> {
  return {
    ...(email !== null && { email, ...(emailProof.level !== 'none' && { [EMAIL_PROOF]: emailProof.level }) }),
    ...(username !== null && { username }),
    ...(passwordHash !== null && { passwordHash }),
  };
}

function fieldValuesOf(fields: FieldValues): RowValues {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [`${FIELD}${name}`, JSON.stringify(value ?? null)]),
  );
}

/** Updates existing accounts to match their rows, unless the accounts were changed here. */
export class RowUpdates {
  readonly #readers: readonly RowReader[];

  /** @param isTrial whether each update is rolled back */
  constructor(
    private readonly core: Core,
    private readonly rows: ImportedRows,
    private readonly isTrial: boolean,
  ) {
    this.#readers = core.contributions.flatMap(({ rowReaders = [] }) => rowReaders);
  }

  /**
   * Returns the accounts of a batch that differ from their rows, as far as that is known without reading the accounts.
   */
  async changed(found: Outcomes): Promise<ReadonlySet<AccountOfRow>> {
    const key = await this.core.imported.knownKey();
    const isChanged = ([{ rowValues, lost }, outcome]: [AccountOfRow, FoundAccount]) => {
      const { line } = outcome;
      if (!key || !line || line.changed.length > 0) return true;
      return changesOf(changedKeys(key, line, rowValues), rowValues, lost)?.length !== 0;
    };
    const existing = [...found].filter(
      (one): one is [AccountOfRow, FoundAccount] => 'id' in one[1] && !one[1].isNew,
    );
    return new Set(existing.filter(isChanged).map(([account]) => account));
  }

  /** Applies a row to its account. */
  async apply(account: AccountOfRow, { id }: FoundAccount): Promise<Applied> {
    const undone = new AuthError('unavailable');
    let applied: Applied = 'unchanged';
    try {
      await this.core.change(id, BY_CODE, async (record, transaction) => {
        applied = await this.#apply(account, record, transaction);
        if (this.isTrial) throw undone;
      });
    } catch (error) {
      if (error !== undone) return [unappliedBy(error)];
    }
    return applied;
  }

  async #apply(account: AccountOfRow, record: UserRecord, transaction: Transaction): Promise<Applied> {
    const { imported } = this.core;
    const { rowValues, origin, lost } = account;
    if (isClosed(record))
      return [{ field: 'id', detail: 'the account was deleted here, and can be restored' }];
    const line = (await imported.find([origin], transaction)).get(originKey(origin)) ?? null;
    const key = await imported.key(transaction);
    const changes = line && changesOf(changedKeys(key, line, rowValues), rowValues, lost);
    const here = line?.changed ?? [];
    if (here.length === 0 && changes?.length === 0) return 'unchanged';
    if (here.length === 0 && changes) {
      await this.#write(account, record, changes, transaction);
      await this.rows.applied(line as ImportedLine, rowValues, lost, transaction);
      return 'updated';
    }
    if (!changes && (record.account.importedAt ?? null) === null)
      return [{ field: 'id', detail: 'the account was not created by an import' }];
    const now = await this.#valuesNow(account, record, transaction);
    // A key that has changed neither here nor in the row does not differ, even if its value looks different, such as
    // the hash of a password that was hashed again.
    const keys = changes ? [...new Set([...changes, ...here])] : keysOf(now, rowValues).filter(isSignIn);
    const differing = keys.filter((name) => (now[name] ?? '') !== (rowValues[name] ?? ''));
    if (here.length > 0) return this.#conflicts(differing, here);
    if (differing.length > 0) {
      // The values of its last import are not known, so the account might have been changed here since then.
      await imported.note(record.user.id, differing, transaction);
      return this.#conflicts(differing, differing);
    }
    if (line) await this.rows.applied(line, rowValues, lost, transaction);
    return 'unchanged';
  }

  #conflicts(differing: readonly string[], here: readonly string[]): readonly Unapplied[] {
    if (differing.length === 0)
      return [
        { field: here[0] as string, detail: 'was changed here since the import, and equals the row now' },
      ];
    return differing.map((field) => ({
      field,
      detail: here.includes(field)
        ? 'was changed here since the import'
        : 'differs from the row, and another part of the account was changed here since the import',
    }));
  }

  /** Writes the values of a row. The account still matches the row's previous values. */
  async #write(
    { user, fields, values, rowValues }: AccountOfRow,
    before: UserRecord,
    differing: readonly string[],
    transaction: Transaction,
  ): Promise<void> {
    const { core } = this;
    const { id } = before.user;
    const proven = await this.#proveMailbox(user, before, transaction);
    const record = proven ?? before;
    // The first proof has removed what the account had, and the row has it too. It keeps what the row no longer has.
    const keys = proven ? [...new Set([...differing, ...keysOf(rowValues)])] : differing;
    const changes: UserChanges = {
      ...emailOf(core, user, record, keys),
      ...(keys.includes('username') && {
        username: user.username,
        usernameDisplay: user.usernameDisplay ?? null,
      }),
      ...(keys.includes('passwordHash') && { passwordHash: user.passwordHash }),
      fields: Object.fromEntries(Object.entries(fields).filter(([name]) => keys.includes(FIELD + name))),
    };
    if (keys.includes('email')) {
      await core.tokens.endAll(id, transaction);
      await core.codeRequests?.endFor(id, transaction);
    }
    const updated = await core.userUpdates.update(record, changes, transaction);
    for (const reader of this.#readers)
      if (reader.keys.some((key) => keys.includes(key)))
        await replacing(reader, () =>
          reader.replace(updated.record, values.get(reader) ?? null, transaction),
        );
    if (keys.includes('passwordHash')) await core.tokens.endWithNewPassword(id, transaction);
    // Otherwise, sessions and tokens from before the change would continue without the new second factor.
    const hasNewFactor = keys.includes('totpSecret') && rowValues.totpSecret !== undefined;
    if (keys.includes('passwordHash') || hasNewFactor) await core.sessions.endAll(id, transaction);
    // They can have begun with what the row no longer has.
    else if (keys.some(isSignIn)) await core.pendings.endAll(id, transaction);
  }

  /**
   * Records that the other system has proven the mailbox of an account that had not proven it. A stranger might have used
   * the account until now, so everything that was attached to it is removed: see `EmailProofs`.
   *
   * @returns the account that is left. Null if there was nothing to prove
   */
  async #proveMailbox(
    { email, emailProof = EmailProof.none }: NewUser,
    record: UserRecord,
    transaction: Transaction,
  ): Promise<UserRecord | null> {
    if (email === null || !isUnproven(record) || !emailProof.reaches('mailbox')) return null;
    const { userUpdates, emailProofs } = this.core;
    const unproven = { email, emailVerifiedAt: null, emailProof: EmailProof.none };
    const moved =
      email === record.user.email ? record : (await userUpdates.update(record, unproven, transaction)).record;
    return emailProofs.record(moved, { proof: emailProof }, transaction);
  }

  async #valuesNow(
    { user, rowValues }: AccountOfRow,
    record: UserRecord,
    transaction: Transaction,
  ): Promise<RowValues> {
    const { emailProof = EmailProof.none } = user;
    // An address that is proven better here does not differ.
    const proof = record.emailProof.reaches(emailProof.level) ? emailProof : record.emailProof;
    const fields = Object.keys(rowValues).flatMap((key) =>
      key.startsWith(FIELD) ? key.slice(FIELD.length) : [],
    );
    const parts: RowValues[] = [];
    for (const reader of this.#readers) parts.push(await reader.valuesNow(record, transaction));
    return Object.assign(
      ownValuesOf({ ...record.user, passwordHash: record.passwordHash }, proof),
      ...parts,
      fieldValuesOf(Object.fromEntries(fields.map((name) => [name, record.account[name]]))),
    );
  }
}

/** Excludes the fields that the row no longer names, and the keys of the row that were skipped. */
function changesOf(
  keys: readonly string[] | null,
  values: RowValues,
  lost: readonly string[],
): readonly string[] | null {
  const isNamed = (key: string) => !key.startsWith(FIELD) || values[key] !== undefined;
  return keys?.filter((key) => isNamed(key) && !lost.includes(key)) ?? null;
}

function keysOf(...all: readonly RowValues[]): string[] {
  return [...new Set(all.flatMap((one) => Object.keys(one)))];
}

/** Whether users sign in with a key, or the key decides whether they can. */
function isSignIn(key: string): boolean {
  return key !== EMAIL_PROOF && !key.startsWith(FIELD);
}

/** Returns the email of a row and its proof, as far as they differ from the account. */
function emailOf(
  { database: { clock } }: Core,
  { email, emailProof: proof = EmailProof.none }: NewUser,
  record: UserRecord,
  keys: readonly string[],
): UserChanges {
  const isNew = keys.includes('email');
  if (!isNew && record.emailProof.reaches(proof.level)) return {};
  const verifiedAt = proof.reaches('provider') ? clock.date() : null;
  return {
    email,
    emailProof: proof,
    emailVerifiedAt: isNew ? verifiedAt : (record.user.emailVerifiedAt ?? verifiedAt),
  };
}

/** @throws AuthError `validation_failed` if another account has a value of the row */
async function replacing({ keys, taken }: RowReader, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!violatedUnique(error)) throw error;
    throw invalidField(`/${keys[0]}`, 'taken', taken?.detail ?? 'another account has it');
  }
}

/** Returns why a row was not applied. @throws errors that are not about the row */
function unappliedBy(error: unknown): Unapplied {
  if (!(error instanceof AuthError) || error.code === 'unavailable') throw error;
  if (error.code === 'email_taken') return { field: 'email', detail: 'another account has this email' };
  if (error.code === 'username_taken')
    return { field: 'username', detail: 'another account has this username' };
  if (error.code === 'user_not_found') return { field: 'id', detail: 'the account was deleted here' };
  const [first] = error.errors ?? [];
  return { field: first?.pointer.slice(1) ?? 'id', detail: first?.detail ?? error.message };
}
