import * as z from 'zod';
import type { Core } from '../../../core/core.js';
import { sessionReply, signInAnswer } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { CredentialApi } from '../api.js';
import type { Settings } from '../options.js';

export const signin = (core: Core, api: CredentialApi, settings: Settings) => {
  const saysUnverified = settings.requireVerifiedEmail && !settings.concealExistingEmails;
  return route({
    method: 'post',
    path: '/signin/credential',
    summary: 'Sign in with a password',
    access: 'public',
    body: z.strictObject({
      credential: text(320).describe(settings.usernames ? 'An email or a username' : 'An email'),
      password: text(1024),
      remember_me: z.boolean().optional().describe('Keep the session when the browser is closed'),
    }),
    answers: { 200: signInAnswer(core, 'The user and the new session, whose token is set as a cookie') },
    problems: [
      'invalid_credentials',
      'rate_limited',
      ...(saysUnverified ? (['email_not_verified'] as const) : []),
    ],
    async handle({ body: { credential, password, remember_me } }) {
      const issued = await api.signIn({ credential, password, rememberMe: remember_me ?? false });
      return sessionReply(core, issued);
    },
  });
};
