import { type AnyAuth, internalsOf } from '../../lib/auth.js';
import { createToken } from '../../lib/crypto/token.js';
import type { Auth, NoticeKind } from '../../lib/index.js';
import { UNDO_PREFIX } from '../../lib/notices/notices.js';

/**
 * Records a change of an account before it happens, for specs about undoing any kind of change.
 *
 * @returns the token of its notice
 */
export async function beforeChange(
  auth: AnyAuth,
  userId: string,
  kind: NoticeKind = 'password-changed',
  takenEmail: string | null = null,
): Promise<string> {
  const { core } = internalsOf(auth);
  const token = createToken(UNDO_PREFIX);
  await core.database.transaction(async (transaction) => {
    const record = await core.users.lock(userId, transaction);
    if (!record) throw new Error('there is no such user');
    await core.history.record({ kind, token, email: takenEmail }, record, transaction);
  });
  return token;
}

/** Makes a user change their account on the app's own page, so that they can undo the change. */
export async function byUser<T>(
  auth: Pick<Auth, 'createSession' | 'revokeSessionById'>,
  userId: string,
  change: (options: { sessionId: string }) => Promise<T>,
): Promise<T> {
  const { session } = await auth.createSession(userId);
  const result = await change({ sessionId: session.id });
  await auth.revokeSessionById(userId, session.id);
  return result;
}
