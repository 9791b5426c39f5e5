import * as z from 'zod';
import type { Core } from '../../../core/core.js';
import { resources, sessionReply } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { TwoFactorApi } from '../api.js';
import { recoveryCodes } from './recovery-codes.js';

export const confirmTotp = (core: Core, api: TwoFactorApi) => {
  const { user, session } = resources(core);
  return route({
    method: 'post',
    path: '/two-factor/totp/confirm',
    summary: 'Switch my second factor on with a code of the app, and end my other sessions',
    access: 'session',
    changesWaysIn: true,
    // A page could not show the recovery codes after a redirect.
    forms: false,
    body: z.strictObject({ code: text(100) }),
    answers: {
      200: {
        description: 'The recovery codes, which cannot be retrieved later, and the session with a new token',
        schema: z.object({ recovery_codes: recoveryCodes, user: user.schema, session: session.schema }),
      },
    },
    problems: ['invalid_code', 'rate_limited', ...(core.mails ? (['email_not_verified'] as const) : [])],
    async handle({ auth, body: { code } }) {
      const { issued, recoveryCodes } = await api.confirm({
        userId: auth.user.id,
        sessionId: auth.session.id,
        code,
      });
      const { body, ...reply } = sessionReply(core, issued);
      return { ...reply, body: { recovery_codes: recoveryCodes, ...(body as object) } };
    },
  });
};
