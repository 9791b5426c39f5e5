import * as z from 'zod';
import type { Core } from '../../../core/core.js';
import { refuseCrossSiteExceptLinks } from '../../../http/origin.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { OAuthApi } from '../api.js';
import { flowInput, sendToProvider, toProvider } from './authorization-request.js';

export const authorize = (core: Core, api: OAuthApi) =>
  route({
    ...toProvider,
    query: toProvider.query.extend({
      remember_me: z
        .enum(['true', 'false'], 'must be true or false')
        .optional()
        .describe('Keep the session when the browser is closed'),
      login_hint: text(320)
        .optional()
        .describe('The account that the user probably has at the provider, such as an email'),
    }),
    problems: [...toProvider.problems, 'rate_limited'],
    method: 'get',
    path: '/oauth/:provider/authorize',
    summary: 'Sign in with a provider',
    access: 'public',
    async handle({ req, params: { provider = '' }, query }) {
      refuseCrossSiteExceptLinks(req);
      const request = await api.authorizeUrl(provider, {
        ...flowInput(core, req, query.callback_url),
        rememberMe: query.remember_me === 'true',
        loginHint: query.login_hint,
      });
      return sendToProvider(req, request);
    },
  });
