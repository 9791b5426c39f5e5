import type { Core } from '../../../core.js';
import { route } from '../../../http/route.js';
import type { OAuthApi } from '../api.js';
import { depart, departure } from './departure.js';

export const authorize = (core: Core, api: OAuthApi) =>
  route({
    ...departure,
    method: 'get',
    path: '/oauth/:provider/authorize',
    summary: 'Sign in at a provider',
    access: 'public',
    handle({ req, params: { provider = '' }, query }) {
      return depart(core, req, query.callback_url, (input) => api.authorizeUrl(provider, input));
    },
  });
