import * as z from 'zod';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { CredentialApi } from '../api.js';

export const usernamesCheck = (api: CredentialApi) =>
  route({
    method: 'post',
    path: '/usernames/check',
    summary: 'Check whether a username is available',
    access: 'public',
    body: z.strictObject({ username: text(100) }),
    answers: {
      200: { description: 'Whether the username is available', schema: z.object({ available: z.boolean() }) },
    },
    problems: ['rate_limited'],
    async handle({ body }) {
      return { status: 200, body: { available: await api.usernameAvailable(body.username) } };
    },
  });
