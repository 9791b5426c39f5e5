import * as z from 'zod';
import type { FactorMethod } from '../../../core/contribution.js';
import type { Core } from '../../../core/core.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { TwoFactorApi } from '../api.js';

/** The token of a pending sign-in in a request, for clients without cookies. */
export const pendingToken = text(200).optional().describe('For clients without cookies');

export const secondFactorOptions = (core: Core, api: TwoFactorApi, { optionsSchema }: FactorMethod) =>
  route({
    method: 'post',
    path: '/signin/second-factor/options',
    summary: 'What a browser needs to give a passkey as the second factor',
    access: 'public',
    // For scripts: a page without them cannot use a passkey.
    forms: false,
    body: z.strictObject({ pending_token: pendingToken }),
    answers: {
      200: {
        description: 'The options of navigator.credentials.get',
        schema: z.object({ options: optionsSchema, pending_token: z.string().optional() }),
      },
    },
    problems: ['sign_in_expired', 'rate_limited'],
    async handle({ body: { pending_token } }) {
      const { options, pendingToken } = await api.options({ pendingToken: pending_token });
      const token = core.settings.bearerEnabled ? { pending_token: pendingToken } : {};
      return { status: 200, body: { options, ...token } };
    },
  });
