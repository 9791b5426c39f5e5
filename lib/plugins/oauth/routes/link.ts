import type { Core } from '../../../core/core.js';
import { refuseCrossSite } from '../../../http/origin.js';
import { route } from '../../../http/route.js';
import type { OAuthApi } from '../api.js';
import { flowInput, sendToProvider, toProvider } from './authorization-request.js';

export const link = (core: Core, api: OAuthApi) =>
  route({
    ...toProvider,
    method: 'get',
    path: '/oauth/:provider/link',
    summary: 'Link an account at a provider',
    access: 'session',
    changesWaysIn: true,
    async handle({ req, auth, params: { provider = '' }, query }) {
      refuseCrossSite(req);
      const input = flowInput(core, req, query.callback_url);
      return sendToProvider(req, await api.linkUrl(provider, auth.session.id, input));
    },
  });
