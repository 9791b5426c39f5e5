import * as z from 'zod';
import { undoChange as undo } from '../accounts/undo.js';
import { codeFieldsOf } from '../accounts/undo-proof.js';
import type { Core } from '../core/core.js';
import { route } from '../http/route.js';
import { text } from '../http/schemas.js';
import { sessionOf } from '../sessions/authenticate.js';
import { passwordShape } from './fresh-or-password.js';

const MAX_CODE = 100;

export const undoChange = (core: Core) => {
  const codes = Object.fromEntries(codeFieldsOf(core).map((field) => [field, text(MAX_CODE).optional()]));
  return route({
    method: 'post',
    path: '/undo-change',
    summary: 'Undo a change of my account with the token of its notice and a proof from before it',
    access: 'public',
    body: z.strictObject({ token: text(200), ...passwordShape(core), ...codes }),
    answers: {
      200: {
        description: 'The change and every later one were undone, and all sessions ended',
        schema: z.object({ undone: z.string() }),
      },
    },
    problems: ['invalid_token', 'proof_required', 'invalid_credentials', 'rate_limited'],
    async handle({ body, req }) {
      const { token, password, ...given } = body as { token: string } & Record<string, string | undefined>;
      const codes = Object.fromEntries(
        Object.entries(given).flatMap(([field, code]) => (code === undefined ? [] : [[field, code]])),
      );
      const own = await sessionOf(core.carriers, req);
      const { userId, undone } = await undo(core, token, { password, codes });
      // The session of this browser has ended too, if it was the account's.
      return { status: 200, body: { undone }, clearCookie: own?.user.id === userId };
    },
  });
};
