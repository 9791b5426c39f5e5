import type { Request } from 'express';
import { z } from 'zod';
import type { Core } from '../../../core/core.js';
import type { AuthErrorCode } from '../../../errors.js';
import { refuseCrossSite } from '../../../http/origin.js';
import type { Reply } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { AuthorizationRequest } from '../api.js';
import { flowCookie, readFlowCookie } from '../flow-cookie.js';
import type { AuthorizeInput } from '../inputs.js';

/** The common parts of `authorize` and `link`, which both redirect a browser to a provider. */
export const toProvider = {
  query: z.object({
    callback_url: text(2048)
      .optional()
      .describe(
        'Where to redirect afterwards: a path of this app, or a URL of a trusted origin. By default /',
      ),
  }),
  answers: {
    302: { description: 'Redirect to the provider' },
    200: {
      description: 'The URL of the provider, for clients that prefer application/json',
      schema: z.object({ url: z.url() }),
    },
  },
  problems: ['provider_not_found', 'invalid_callback_url', 'origin_not_allowed', 'provider_error'],
} as const satisfies { query: z.ZodType; answers: object; problems: readonly AuthErrorCode[] };

/** Starts a flow and redirects the browser, or returns the URL to clients that prefer JSON. */
export async function sendToProvider(
  core: Core,
  req: Request,
  callbackUrl: string | undefined,
  begin: (input: AuthorizeInput) => Promise<AuthorizationRequest>,
): Promise<Reply> {
  refuseCrossSite(req);
  const { url, browser } = await begin({
    ...(callbackUrl !== undefined && { callbackUrl }),
    browser: readFlowCookie(core, req),
    basePath: core.settings.httpBasePath ?? req.baseUrl,
  });
  const headers = { 'Set-Cookie': flowCookie(core, browser) };
  if (req.accepts(['html', 'json']) === 'json') return { status: 200, body: { url }, headers };
  return { status: 302, headers: { ...headers, Location: url } };
}
