import type { Request } from 'express';
import { z } from 'zod';
import type { Core } from '../../../core.js';
import { AuthError } from '../../../errors.js';
import { type Call, type Reply, route } from '../../../http/route.js';
import type { OAuthApi } from '../api.js';
import { readFlowCookie } from '../flow-cookie.js';

// A provider may add what it likes.
const answer = z.record(z.string(), z.string());

const shared = {
  path: '/oauth/:provider/callback',
  access: 'public',
  answers: { 303: { description: 'To the callback URL; with ?error=<code> where the flow failed' } },
  problems: ['provider_not_found', 'invalid_flow'],
} as const;

export const callback = (core: Core, api: OAuthApi) =>
  route({
    ...shared,
    method: 'get',
    summary: 'Where a provider sends the browser back to',
    query: answer,
    handle(call) {
      // Express gives it to us as well, and a flow is there for one return.
      if (call.req.method === 'HEAD')
        throw new AuthError('method_not_allowed', { headers: { Allow: 'GET, POST' } });
      return arrive(core, api, call);
    },
  });

/** For `response_mode=form_post`, as Apple demands it. */
export const formCallback = (core: Core, api: OAuthApi) =>
  route({
    ...shared,
    method: 'post',
    summary: 'The same for a provider that answers by a form',
    fromOtherSites: true,
    form: answer,
    async handle(call) {
      // A browser sends no SameSite=Lax cookie with another site's form, but does with the GET that we turn it into.
      if (readFlowCookie(core, call.req) !== undefined) return arrive(core, api, call);
      const isExpected = await api.isExpected(call.params.provider ?? '', new URLSearchParams(call.query));
      if (!isExpected) throw new AuthError('invalid_flow');
      return turnIntoGet(call.req, call.query);
    },
  });

async function arrive(
  core: Core,
  api: OAuthApi,
  call: Call<'public', unknown, z.infer<typeof answer>>,
): Promise<Reply> {
  const { req, params, query, ip, userAgent } = call;
  const { callbackUrl, issued } = await api.arrive({
    provider: params.provider ?? '',
    answer: new URLSearchParams(query),
    browser: readFlowCookie(core, req),
    current: () => core.currentSession(req),
    // A browser has one, or two where another subdomain has set one too.
    tokens: [...new Set(core.carriers.flatMap((carrier) => carrier.sessionTokens(req)))].slice(0, 2),
    ip,
    userAgent,
  });
  return { status: 303, headers: { Location: callbackUrl }, ...(issued && { issue: issued }) };
}

function turnIntoGet(req: Request, { code, state, iss, error }: z.infer<typeof answer>): Reply {
  const kept = Object.entries({ code, state, iss, error }).filter((pair): pair is [string, string] =>
    Boolean(pair[1]),
  );
  return { status: 303, headers: { Location: `${req.baseUrl}${req.path}?${new URLSearchParams(kept)}` } };
}
