import type { Request } from 'express';
import * as z from 'zod';
import type { Core } from '../../../core/core.js';
import type { AuthErrorCode } from '../../../errors.js';
import type { Reply } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { AuthorizationRequest } from '../begin-flow.js';
import type { FlowInput } from '../inputs.js';

/** The common parts of `authorize`, `link` and `reauthenticate`, which redirect a browser to a provider. */
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

/** The input of a flow that a request starts. */
export function flowInput(core: Core, req: Request, callbackUrl: string | undefined): FlowInput {
  return {
    ...(callbackUrl !== undefined && { callbackUrl }),
    basePath: core.settings.httpBasePath ?? req.baseUrl,
  };
}

/** Redirects the browser to the provider, or returns the URL to clients that prefer JSON. */
export function sendToProvider(req: Request, { url, setCookie }: AuthorizationRequest): Reply {
  const headers = { 'Set-Cookie': setCookie };
  if (req.accepts(['html', 'json']) === 'json') return { status: 200, body: { url }, headers };
  return { status: 302, headers: { ...headers, Location: url } };
}
