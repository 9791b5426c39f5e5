import { z } from 'zod';
import type { Core } from '../../../core/core.js';
import { resources, sessionReply } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { CredentialApi } from '../api.js';
import type { SignUpInput } from '../inputs.js';

const account = { email: text(320), password: text(1024) };

interface Settings {
  readonly username: boolean;
  readonly concealExistingEmails: boolean;
}

export const signup = (core: Core, api: CredentialApi, { username, concealExistingEmails }: Settings) => {
  const { user, session } = resources(core);
  return route({
    method: 'post',
    path: '/signup/credential',
    summary: 'Create an account with a password',
    access: 'public',
    body: z.strictObject({
      ...account,
      ...(username && { username: text(100).optional() }),
      ...core.fields.wireShape('user', 'create'),
    }),
    answers: concealExistingEmails
      ? { 202: { description: 'Accepted; the outcome is sent by email' } }
      : {
          201: {
            description: 'The user and, if signing up creates one, the session',
            schema: z.object({ user: user.schema, session: session.schema.optional() }),
          },
        },
    problems: [
      'rate_limited',
      ...(concealExistingEmails ? [] : (['email_taken'] as const)),
      ...(username ? (['username_taken'] as const) : []),
    ],
    async handle({ body }) {
      const { email, password, username } = body as SignUpInput;
      const fields = core.fields.fromWire(body);
      const created = await api.signUp({ email, password, username, fields });
      if (!created) return { status: 202 };
      if ('token' in created) return sessionReply(core, created, 201);
      return { status: 201, body: { user: user.present(created.user) } };
    },
  });
};
