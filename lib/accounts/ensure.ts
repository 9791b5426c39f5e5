import type { Core } from '../core/core.js';
import { retryAfterRace } from '../database/faults.js';
import { AuthError, declareProblems, invalidField } from '../errors.js';
import { say } from '../phrases.js';
import type { FieldValues } from '../users/fields.js';
import { ENSURED, type ImportedLine, originKey } from '../users/imported-users.js';
import type { NewUser, UserRecord } from '../users/record.js';
import { isClosed } from './deletion.js';

/** An account that exists now. */
export interface Ensured {
  readonly record: UserRecord;
  /** Whether it was created by this call. */
  readonly created: boolean;
}

/** The account to create if it does not exist. */
interface Wanted {
  /** In canonical form. */
  readonly email: string | null;
  readonly username: string | null;
  readonly usernameDisplay?: string;
  /** Returns the rest of the account, which takes long if the account has a password. */
  readonly rest: () => Promise<Pick<NewUser, 'passwordHash' | 'emailProof'>>;
  readonly fields?: FieldValues | undefined;
}

/**
 * Finds the account that an earlier call has created, or an account whose email was proven by the app or by access to
 * the mailbox. Otherwise, it creates an account. If several calls run at the same time, one creates the account, and
 * the others find it.
 *
 * @throws AuthError `email_unproven`, `username_taken`, `email_taken` (409), `validation_failed`, and errors of hooks
 */
export async function ensureUser(core: Core, wanted: Wanted): Promise<Ensured> {
  const ref = wanted.email ?? wanted.username;
  if (ref === null) throw invalidField('/email', 'missing_identifier', say('pass-identifier'));
  return retryAfterRace(['email_taken', 'username_taken', 'email_unproven'], async () => {
    const { line, record } = await remembered(core, ref);
    if (record) return { record, created: false };
    const found = await existing(core, wanted);
    return found ? { record: found, created: false } : create(core, wanted, ref, line);
  });
}

async function remembered(
  core: Core,
  ref: string,
): Promise<{ readonly line: ImportedLine | null; readonly record: UserRecord | null }> {
  const origin = { source: ENSURED, ref };
  const lines = await core.database.transaction((transaction) => core.imported.find([origin], transaction));
  const line = lines.get(originKey(origin)) ?? null;
  const record = line?.userId ? await core.users.findRecord({ id: line.userId }) : null;
  return { line, record: record && !isClosed(record) ? record : null };
}

/** Finds an account that can be the wanted one. @throws AuthError if another account has its email or username */
async function existing(core: Core, { email, username }: Wanted): Promise<UserRecord | null> {
  const holder = email === null ? null : await core.users.findRecord({ email });
  if (holder) {
    if (isClosed(holder)) throw new AuthError('email_taken');
    if (!holder.emailProof.reaches('app')) throw new AuthError('email_unproven');
    return holder;
  }
  const named = username === null ? null : await core.users.findRecord({ username });
  if (named) throw new AuthError('username_taken');
  return null;
}

async function create(
  core: Core,
  { email, username, usernameDisplay, rest, fields }: Wanted,
  ref: string,
  before: ImportedLine | null,
): Promise<Ensured> {
  const record = await core.signUp.create(
    { email, username, ...(usernameDisplay && { usernameDisplay }), ...(await rest()) },
    {
      via: 'code',
      from: 'code',
      ...(fields && { fields }),
      alongside: ({ user }, transaction) =>
        core.imported.remember(
          [{ origin: { source: ENSURED, ref }, userId: user.id, stampsBy: null, before }],
          transaction,
        ),
    },
  );
  return { record, created: true };
}

const problems = declareProblems({
  email_unproven: [
    409,
    'An account has this email, but no one has proven that the email belongs to its user. Verify the email or delete the account first.',
  ],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
