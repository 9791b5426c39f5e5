import type { Core } from '../../../core/core.js';
import { route } from '../../../http/route.js';
import type { OAuthApi } from '../api.js';
import { sendToProvider, toProvider } from './authorization-request.js';

export const link = (core: Core, api: OAuthApi) =>
  route({
    ...toProvider,
    method: 'get',
    path: '/oauth/:provider/link',
    summary: 'Link an account at a provider',
    access: 'session',
    handle({ req, auth, params: { provider = '' }, query }) {
      return sendToProvider(core, req, query.callback_url, (input) =>
        api.linkUrl(provider, auth.session.id, input),
      );
    },
  });
