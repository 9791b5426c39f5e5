import type { Request } from 'express';
import { z } from 'zod';
import type { Core } from '../../../core/core.js';
import { AuthError } from '../../../errors.js';
import { type Call, type Reply, route } from '../../../http/route.js';
import type { OAuthApi } from '../api.js';
import { readFlowCookie } from '../flow-cookie.js';

// Providers may send additional parameters.
const parameters = z.record(z.string(), z.string());

const shared = {
  path: '/oauth/:provider/callback',
  access: 'public',
  answers: { 303: { description: 'Redirect to the callback URL, with ?error=<code> if the flow failed' } },
  problems: ['provider_not_found', 'invalid_flow'],
} as const;

export const callback = (core: Core, api: OAuthApi) =>
  route({
    ...shared,
    method: 'get',
    summary: 'Complete a sign-in or a link after returning from a provider',
    query: parameters,
    handle(call) {
      // Express also routes HEAD requests here, which must not consume the flow.
      if (call.req.method === 'HEAD')
        throw new AuthError('method_not_allowed', { headers: { Allow: 'GET, POST' } });
      return complete(core, api, call);
    },
  });

/** For `response_mode=form_post`, which Apple requires. */
export const formCallback = (core: Core, api: OAuthApi) =>
  route({
    ...shared,
    method: 'post',
    summary: 'The same, for providers that respond with a form post',
    fromOtherSites: true,
    form: parameters,
    async handle(call) {
      // Browsers send no SameSite=Lax cookies with a form post from another site, but they do with the GET after a
      // redirect.
      if (readFlowCookie(core, call.req) !== undefined) return complete(core, api, call);
      const isPending = await api.isPending(call.params.provider ?? '', new URLSearchParams(call.query));
      if (!isPending) throw new AuthError('invalid_flow');
      return turnIntoGet(call.req, call.query);
    },
  });

async function complete(
  core: Core,
  api: OAuthApi,
  { req, params, query }: Call<'public', unknown, z.infer<typeof parameters>>,
): Promise<Reply> {
  const { callbackUrl, issued } = await api.callback({
    provider: params.provider ?? '',
    parameters: new URLSearchParams(query),
    browser: readFlowCookie(core, req),
  });
  return { status: 303, headers: { Location: callbackUrl }, ...(issued && { issue: issued }) };
}

function turnIntoGet(req: Request, { code, state, iss, error }: z.infer<typeof parameters>): Reply {
  const kept = Object.entries({ code, state, iss, error }).filter((pair): pair is [string, string] =>
    Boolean(pair[1]),
  );
  return { status: 303, headers: { Location: `${req.baseUrl}${req.path}?${new URLSearchParams(kept)}` } };
}
