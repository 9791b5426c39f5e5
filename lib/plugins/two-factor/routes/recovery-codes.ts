import * as z from 'zod';
import { requireAal } from '../../../http/admit.js';
import { route } from '../../../http/route.js';
import type { TwoFactorApi } from '../api.js';

/** Recovery codes in a response. */
export const recoveryCodes = z.array(z.string()).describe('Ten codes, each of which can be used once');

export const renewRecoveryCodes = (api: TwoFactorApi) =>
  route({
    method: 'post',
    path: '/two-factor/recovery-codes',
    summary: 'Replace my recovery codes',
    access: 'session',
    fresh: 600,
    changesWaysIn: true,
    // A page could not show them after a redirect.
    forms: false,
    answers: {
      200: {
        description: 'The new codes, which cannot be retrieved later',
        schema: z.object({ recovery_codes: recoveryCodes }),
      },
    },
    problems: ['second_factor_required', 'totp_not_enabled'],
    async handle({ auth }) {
      requireAal(auth, 2);
      const codes = await api.renewRecoveryCodes({ userId: auth.user.id, sessionId: auth.session.id });
      return { status: 200, body: { recovery_codes: codes } };
    },
  });
