import * as z from 'zod';
import type { Core } from '../../core/core.js';
import { resources, sessionReply } from '../../http/present.js';
import { route } from '../../http/route.js';
import { text } from '../../http/schemas.js';
import type { Settings } from './options.js';
import type { Registration, Registrations } from './registrations.js';

export const signup = (
  core: Core,
  registrations: Registrations,
  newPassword: z.ZodString,
  settings: Settings,
) => {
  const { identifier, usernames, concealExistingEmails } = settings;
  const { user, session } = resources(core);
  const { signUp, hooks } = core.settings;
  const mayRefuse = signUp === 'closed' || hooks.beforeCreateUser !== undefined;
  return route({
    method: 'post',
    path: '/signup/credential',
    summary: 'Create an account with a password',
    access: 'public',
    body: z.strictObject({
      ...identifiers(settings),
      password: newPassword,
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
      ...(mayRefuse ? (['sign_up_refused'] as const) : []),
      ...(concealExistingEmails || identifier === 'username' ? [] : (['email_taken'] as const)),
      ...(usernames ? (['username_taken'] as const) : []),
    ],
    async handle({ body }) {
      const { email, password, username } = body as Registration;
      const fields = core.fields.fromWire(body);
      const created = await registrations.create({ email, password, username, fields }, 'credential');
      if (!created) return { status: 202 };
      if ('token' in created || 'secondFactor' in created) return sessionReply(core, created, 201);
      return { status: 201, body: { user: user.present(created.user) } };
    },
  });
};

function identifiers({ identifier, usernames }: Settings): z.ZodRawShape {
  const email = text(320);
  const username = text(100);
  switch (identifier) {
    case 'email':
      return usernames ? { email, username: username.optional() } : { email };
    case 'username':
      return { username };
    case 'either':
      return {
        email: email.optional().describe('Required without a username'),
        username: username.optional(),
      };
  }
}
