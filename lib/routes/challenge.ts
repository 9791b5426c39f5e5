import * as z from 'zod';
import { named, route } from '../http/route.js';
import type { HumanCheck } from '../human-check/human-check.js';

export const humanChallenge = (humanCheck: HumanCheck) =>
  route({
    method: 'get',
    path: '/human-challenge',
    client: 'humanChallenge',
    summary: 'Get a challenge of the human check, for a browser to solve',
    access: 'public',
    answers: {
      200: {
        description: "The challenge, in the format of ALTCHA's version 2",
        schema: named(
          'HumanChallenge',
          'A challenge of the human check',
          z.object({
            parameters: z.object({
              algorithm: z.literal('PBKDF2/SHA-256'),
              cost: z.int().describe('The number of iterations'),
              expiresAt: z.int().describe('In seconds since 1970'),
              keyLength: z.int().describe('In bytes'),
              keyPrefix: z.string().describe('The hex digits that the key must start with'),
              nonce: z.string(),
              salt: z.string(),
            }),
            signature: z.string(),
          }),
        ),
      },
    },
    async handle() {
      return { status: 200, body: await humanCheck.challenge() };
    },
  });
