import type { Core } from '../../../core/core.js';
import { route } from '../../../http/route.js';
import type { OAuthApi } from '../api.js';
import { sendToProvider, toProvider } from './authorization-request.js';

export const authorize = (core: Core, api: OAuthApi) =>
  route({
    ...toProvider,
    method: 'get',
    path: '/oauth/:provider/authorize',
    summary: 'Sign in with a provider',
    access: 'public',
    handle({ req, params: { provider = '' }, query }) {
      return sendToProvider(core, req, query.callback_url, (input) => api.authorizeUrl(provider, input));
    },
  });
