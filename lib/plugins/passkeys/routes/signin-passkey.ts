import * as z from 'zod';
import type { Core } from '../../../core/core.js';
import { sessionAnswer, sessionReply } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { PasskeysApi } from '../api.js';
import { authenticationResponse } from '../schemas.js';

export const signIn = (core: Core, api: PasskeysApi) =>
  route({
    method: 'post',
    path: '/signin/passkey',
    summary: 'Sign in with a passkey',
    access: 'public',
    body: z.strictObject({
      response: authenticationResponse(),
      remember_me: z.boolean().optional().describe('Keep the session when the browser is closed'),
      pending_token: text(200)
        .optional()
        .describe('The one that came with the options, in place of the cookie'),
    }),
    answers: { 200: sessionAnswer(core, 'The user and the new session, whose token is set as a cookie') },
    problems: ['invalid_passkey'],
    async handle({ body: { response, remember_me, pending_token } }) {
      const issued = await api.signIn({
        response,
        rememberMe: remember_me ?? false,
        pendingToken: pending_token,
      });
      return sessionReply(core, issued);
    },
  });
