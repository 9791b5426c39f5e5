import type { Request } from 'express';
import * as z from 'zod';
import { AuthError } from '../../errors.js';
import { withError } from '../../http/callback-url.js';
import { type Call, type Reply, route } from '../../http/route.js';
import type { OAuthApi } from './api.js';

// Providers may send additional parameters.
const parameters = z.record(z.string(), z.string());
type Parameters = z.infer<typeof parameters>;

const shared = {
  path: '/oauth/:provider/callback',
  access: 'public',
  answers: {
    303: {
      description:
        'Redirect to the callback URL, with ?error=<code> if the flow failed, or with ?second_factor=required; without a valid flow, redirect of a ' +
        'browser (one that accepts text/html) to errorUrl with ?error=invalid_flow',
    },
  },
  problems: ['provider_not_found', 'invalid_flow'],
} as const;

export const callback = (api: OAuthApi, errorUrl: string) =>
  route({
    ...shared,
    method: 'get',
    summary: 'Complete a flow after returning from a provider',
    query: parameters,
    handle(call) {
      // Express also routes HEAD requests here, which must not consume the flow.
      if (call.req.method === 'HEAD')
        throw new AuthError('method_not_allowed', { headers: { Allow: 'GET, POST' } });
      return toPage(call.req, errorUrl, () => complete(api, call));
    },
  });

/** For `response_mode=form_post`, which Apple requires. */
export const formCallback = (api: OAuthApi, errorUrl: string) =>
  route({
    ...shared,
    method: 'post',
    summary: 'The same, for providers that respond with a form post',
    fromOtherSites: true,
    formPost: parameters,
    handle(call) {
      return toPage(call.req, errorUrl, async () => {
        try {
          return await complete(api, call);
        } catch (error) {
          // Browsers send no SameSite=Lax cookies with a form post from another site, but they do with the GET after a
          // redirect.
          const { params, query, req } = call;
          const hasNoCookie = error instanceof AuthError && error.code === 'invalid_flow';
          if (!hasNoCookie || !(await api.keepForm(params.provider ?? '', new URLSearchParams(query))))
            throw error;
          return turnIntoGet(req, query);
        }
      });
    },
  });

async function complete(
  api: OAuthApi,
  { params, query }: Call<'public', unknown, Parameters>,
): Promise<Reply> {
  const { callbackUrl, issued, setCookie } = await api.callback({
    provider: params.provider ?? '',
    parameters: new URLSearchParams(query),
  });
  const headers = { Location: callbackUrl, 'Set-Cookie': setCookie };
  return { status: 303, headers, ...(issued && { issue: issued }) };
}

/** Without a valid flow, redirects a browser to a page instead of answering with a problem. */
async function toPage(req: Request, errorUrl: string, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    const isBrowser = /\btext\/html\b/i.test(req.headers.accept ?? '');
    if (!isBrowser || !(error instanceof AuthError) || error.code !== 'invalid_flow') throw error;
    return { status: 303, headers: { Location: withError(errorUrl, error.code) } };
  }
}

function turnIntoGet(req: Request, { code, state, iss, error }: Parameters): Reply {
  const kept = Object.entries({ code, state, iss, error }).filter((pair): pair is [string, string] =>
    Boolean(pair[1]),
  );
  return { status: 303, headers: { Location: `${req.baseUrl}${req.path}?${new URLSearchParams(kept)}` } };
}
