import * as z from 'zod';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { route } from '../http/route.js';

export const signInMethods = (core: Core) => {
  const parts = core.contributions.flatMap(({ signInMethods }) => signInMethods ?? []);
  return route({
    method: 'get',
    path: '/sign-in-methods',
    summary: 'Get the ways in which I can sign in',
    access: 'session',
    answers: {
      200: {
        description: 'The ways that are enabled, and which of them I have',
        schema: z.object(Object.assign({}, ...parts.map(({ schema }) => schema))),
      },
    },
    async handle({ auth }) {
      const record = await core.users.findRecord({ id: auth.user.id });
      // Deleted since it was authenticated.
      if (!record) throw new AuthError('invalid_session');
      const body = await Promise.all(parts.map((part) => part.of(record)));
      return { status: 200, body: Object.assign({}, ...body) };
    },
  });
};
