import { type AnyAuth, internalsOf } from '../../lib/auth.js';
import type { NoticeKind } from '../../lib/index.js';

/**
 * Writes down a change of an account that is about to be made, for specs of what undoes it whatever the change is.
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
  const template = { kind, subject: 'A change', lines: ['Something changed.'] } as const;
  const notice = await core.database.transaction(async (transaction) => {
    const record = await core.users.lock(userId, transaction);
    if (!record) throw new Error('there is no such user');
    return core.notices.before(template as never, record, transaction, { takenEmail });
  });
  return notice?.token ?? '';
}
