import type { Core } from '../../../core/core.js';
import { refuseCrossSite } from '../../../http/origin.js';
import { route } from '../../../http/route.js';
import type { OAuthApi } from '../api.js';
import { flowInput, sendToProvider, toProvider } from './authorization-request.js';

export const reauthenticate = (core: Core, api: OAuthApi) =>
  route({
    ...toProvider,
    method: 'get',
    path: '/oauth/:provider/reauthenticate',
    summary: 'Reauthenticate with a linked provider, for actions that require a recent sign-in',
    access: 'session',
    problems: [...toProvider.problems, 'account_not_linked', 'reauthentication_required'],
    async handle({ req, auth, params: { provider = '' }, query }) {
      refuseCrossSite(req);
      const input = flowInput(core, req, query.callback_url);
      return sendToProvider(req, await api.reauthenticateUrl(provider, auth.session.id, input));
    },
  });
