import * as z from 'zod';
import { route } from '../../../http/route.js';
import type { TwoFactorApi } from '../api.js';

export const readTwoFactor = (api: TwoFactorApi) =>
  route({
    method: 'get',
    path: '/two-factor',
    summary: 'Whether my second factor is on',
    access: 'session',
    answers: {
      200: {
        description: 'Whether codes of an app are on, and the number of unused recovery codes',
        schema: z.object({ totp: z.boolean(), recovery_codes_left: z.int() }),
      },
    },
    async handle({ auth }) {
      const { totp, recoveryCodesLeft } = await api.status(auth.user.id);
      return { status: 200, body: { totp, recovery_codes_left: recoveryCodesLeft } };
    },
  });
