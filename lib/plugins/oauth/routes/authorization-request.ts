import type { Request } from 'express';
import { z } from 'zod';
import type { Core } from '../../../core/core.js';
import type { AuthErrorCode } from '../../../errors.js';
import { refuseCrossSite } from '../../../http/origin.js';
import type { Reply } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { AuthorizationRequest, AuthorizeInput } from '../api.js';
import { flowCookie, readFlowCookie } from '../flow-cookie.js';

/** What `authorize` and `link` have in common: both send a browser to a provider. */
export const toProvider = {
  query: z.object({
    callback_url: text(2048)
      .optional()
      .describe('Where to end: a path of this app, or a URL of an origin that it trusts. By default /'),
  }),
  answers: {
    302: { description: 'To the provider' },
    200: {
      description: 'The same for a client that prefers application/json',
      schema: z.object({ url: z.url() }),
    },
  },
  problems: ['provider_not_found', 'invalid_callback_url', 'origin_not_allowed', 'provider_error'],
} as const satisfies { query: z.ZodType; answers: object; problems: readonly AuthErrorCode[] };

/** Begins a flow for the browser that asks, and redirects it; a script is told where to send it. */
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
