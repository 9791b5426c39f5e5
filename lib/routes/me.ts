import { z } from 'zod';
import type { Core } from '../core.js';
import {
  apiKeySchema,
  presentApiKey,
  presentSession,
  presentUser,
  sessionSchema,
  userSchema,
} from '../http/present.js';
import { route } from '../http/route.js';

export const me = (core: Core) =>
  route({
    method: 'get',
    path: '/me',
    summary: 'Who I am',
    access: 'identity',
    answers: {
      200: {
        description: core.acceptsApiKeys
          ? 'The user, and the session or the API key that the request came with'
          : 'The user and the current session',
        schema: z.object({
          user: userSchema(core),
          session: core.acceptsApiKeys ? sessionSchema.nullable() : sessionSchema,
          ...(core.acceptsApiKeys && { api_key: apiKeySchema.optional() }),
        }),
      },
    },
    async handle({ auth }) {
      const user = presentUser(auth.user);
      if (auth.session) return { status: 200, body: { user, session: presentSession(auth.session) } };
      return { status: 200, body: { user, session: null, api_key: presentApiKey(auth.apiKey) } };
    },
  });
