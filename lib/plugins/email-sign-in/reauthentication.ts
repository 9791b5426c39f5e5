import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import { text } from '../../http/route.js';
import type { Reauthentication } from '../../sessions/second-factor.js';
import { type EmailedSignIns, hashesOf, reauthenticationOf } from '../../waiting/emailed-sign-ins.js';
import { hasOnlyEmail, readsPasskey } from './proof.js';

/** Returns the field `email_code` of POST /reauthenticate. */
export function byEmailCode(core: Core, rows: EmailedSignIns): Reauthentication {
  return {
    field: 'email_code',
    schema: text(100),
    problems: ['invalid_code', 'email_code_not_offered', 'rate_limited'],
    aal: 1,
    async verify(record, code, { id: sessionId }) {
      const { user } = record;
      await core.limiter.countAddress('signIn');
      // The account might have got a password since the code was emailed.
      if (!hasOnlyEmail(core, record, await readsPasskey(core, user.id)))
        throw new AuthError('email_code_not_offered');
      const row = await rows.ofBrowser(reauthenticationOf(sessionId));
      if (row?.email !== user.email || !(await rows.countTry(row))) throw new AuthError('invalid_code');
      if (!rows.isReauthenticationCode(String(code), row)) {
        core.events.emit('sign_in.failed', { userId: user.id, method: 'email' });
        await rows.endAfterTries(row);
        throw new AuthError('invalid_code');
      }
      if (!(await rows.take(hashesOf(row)))) throw new AuthError('invalid_code');
      return { amr: ['email'] };
    },
  };
}
