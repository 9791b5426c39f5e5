import * as z from 'zod';
import type { ShownScope } from '../../core/contribution.js';
import { AuthError, messageOf } from '../../errors.js';
import { route, text } from '../../http/route.js';
import { say } from '../../phrases.js';
import { shownAgain } from '../../shown-again.js';
import type { ApiKeysApi } from './api.js';
import { apiKeyResource } from './carrier.js';

/** @param scopes the scopes that the app has declared */
export const createApiKey = (api: ApiKeysApi, scopes: readonly ShownScope[] | undefined) =>
  route({
    method: 'post',
    path: '/api-keys',
    client: 'apiKeys.create',
    summary: 'Create an API key, after a recent sign-in or with the password',
    access: 'session',
    sensitive: { asks: 'fresh-or-password' },
    // A page of the app could not show the key after a redirect.
    forms: false,
    body: z.strictObject({
      name: shownAgain(text(200)),
      scopes: shownAgain(z.array(scopeIn(scopes)).max(100).optional()),
      expires_at: shownAgain(
        z.iso
          .datetime({ offset: true, error: messageOf(say('not-a-time')) })
          .nullable()
          .optional(),
      ),
    }),
    answers: {
      201: {
        description: 'The key, which cannot be retrieved later',
        schema: z.object({
          api_key: apiKeyResource.schema,
          key: z.string().describe('It cannot be retrieved later'),
        }),
      },
    },
    problems: ['too_many_api_keys'],
    async handle({ auth, body: { name, scopes, expires_at } }) {
      const expiresAt = expires_at ? new Date(expires_at) : null;
      const { apiKey, key } = await api.create(auth.user.id, {
        name,
        scopes,
        expiresAt,
        sessionId: auth.session.id,
      });
      return { status: 201, body: { api_key: apiKeyResource.present(apiKey), key } };
    },
  });

/** The schema of a scope. Its values are only documented here, because code must pass the same check. */
function scopeIn(scopes: readonly ShownScope[] | undefined) {
  return scopes ? text(200).meta({ enum: scopes.map(({ name }) => name) }) : text(200);
}

export const listApiKeys = (api: ApiKeysApi) =>
  route({
    method: 'get',
    path: '/api-keys',
    client: 'apiKeys.list',
    summary: "List the current user's API keys, newest first",
    access: 'session',
    answers: {
      200: { description: 'The keys', schema: z.object({ api_keys: z.array(apiKeyResource.schema) }) },
    },
    async handle({ auth }) {
      return { status: 200, body: { api_keys: (await api.list(auth.user.id)).map(apiKeyResource.present) } };
    },
  });

export const revokeApiKey = (api: ApiKeysApi) =>
  route({
    method: 'delete',
    path: '/api-keys/:id',
    client: 'apiKeys.revoke',
    summary: "Revoke one of the current user's API keys",
    access: 'session',
    answers: { 204: { description: 'The key was revoked' } },
    problems: ['api_key_not_found'],
    async handle({ auth, params: { id = '' } }) {
      if (!(await api.revoke(auth.user.id, id))) throw new AuthError('api_key_not_found');
      return { status: 204 };
    },
  });
