import * as z from 'zod';
import { confirmEmailChange } from '../accounts/email.js';
import type { Core } from '../core/core.js';
import { passwordsOf } from '../core/passwords.js';
import { resources, secondFactorProblems, sessionReply } from '../http/present.js';
import { route } from '../http/route.js';
import { text } from '../http/schemas.js';
import { sessionOf } from '../sessions/authenticate.js';
import { passwordShape } from './fresh-or-password.js';

export const confirmChange = (core: Core) => {
  const { user, session } = resources(core);
  return route({
    method: 'post',
    path: '/email-changes/confirm',
    summary: 'Confirm my new email with an emailed token and my session or password',
    access: 'public',
    body: z.strictObject({ token: text(200), ...passwordShape(core) }),
    answers: {
      200: {
        description: 'The user and, with a session of the user, that session with a new token',
        schema: z.object({ user: user.schema, session: session.schema.optional() }),
      },
    },
    problems: [
      ...(['invalid_token', 'email_taken', 'unauthenticated', 'invalid_session'] as const),
      ...secondFactorProblems(core),
      ...(passwordsOf(core) ? (['invalid_credentials', 'rate_limited'] as const) : []),
    ],
    async handle({ body, req }) {
      const { token, password } = body as { token: string; password?: string };
      const own = await sessionOf(core.carriers, req);
      const changed = await confirmEmailChange(core, token, { session: own?.session ?? null, password });
      if (changed.issued) return sessionReply(core, changed.issued);
      return { status: 200, body: { user: user.present(changed.user) } };
    },
  });
};
