import { z } from 'zod';
import type { Core } from '../../../core.js';
import { presentSession, presentUser, sessionSchema, userSchema } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { CredentialApi } from '../api.js';

const fields = { email: text(320), password: text(1024) };

interface Settings {
  readonly username: boolean;
  readonly concealExistingEmails: boolean;
}

export const signup = (core: Core, api: CredentialApi, { username, concealExistingEmails }: Settings) =>
  route({
    method: 'post',
    path: '/signup/credential',
    summary: 'Make an account with a password',
    access: 'public',
    body: z.strictObject(username ? { ...fields, username: text(100).optional() } : fields),
    answers: concealExistingEmails
      ? { 202: { description: 'A mail says what came of it' } }
      : {
          201: {
            description: 'The account; with its session, where a sign-up begins one',
            schema: z.object({ user: userSchema(core), session: sessionSchema.optional() }),
          },
        },
    problems: [
      'rate_limited',
      ...(concealExistingEmails ? [] : (['email_taken'] as const)),
      ...(username ? (['username_taken'] as const) : []),
    ],
    async handle({ body, ip, userAgent, req }) {
      const made = await api.signUp({ ...body, ip, userAgent });
      if (!made) return { status: 202 };
      const user = presentUser(made.user);
      if (!('token' in made)) return { status: 201, body: { user } };
      await core.endCarriedSessions(req);
      return { status: 201, body: { user, session: presentSession(made.session) }, issue: made };
    },
  });
