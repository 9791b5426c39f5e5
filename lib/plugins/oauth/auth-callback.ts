import { createAuth, internalsOf } from '../../auth.js';
import type { AuthOrConfig } from '../../guards/guards.js';
import { marked } from '../../guards/marks.js';
import { endpoint, methodNotAllowed } from '../../http/endpoint.js';
import type { Middleware } from '../../http/middleware.js';
import type { OAuthApi } from './api.js';
import { CALLBACK_PATH, callbacksAt } from './routes.js';

/**
 * Creates the handler of a provider's `callbackUrl`, for a redirect URI that is registered at the provider already. It
 * completes the flow as the callback routes do, for GET and, since some providers respond with a form post, POST.
 *
 * @example
 * app.use('/signin/google/return', authCallback(auth, 'google'));
 *
 * @throws TypeError if there is no such provider, or if it has no `callbackUrl`
 */
export function authCallback(authOrConfig: AuthOrConfig, provider: string): Middleware {
  const { core, routes } = internalsOf(authOrConfig);
  checkProvider(apiOf(authOrConfig), provider);
  const own = callbacksAt(
    '/',
    provider,
    routes().filter(({ path }) => path === CALLBACK_PATH),
  );
  const handlers = new Map(own.map((one) => [one.method, endpoint(core, one)]));
  const otherwise = methodNotAllowed(core, ['GET', 'HEAD', 'POST']);
  const handler: Middleware = (req, res, next) => {
    const method = req.method.toLowerCase().replace('head', 'get');
    return (handlers.get(method as 'get') ?? otherwise)(req, res, next);
  };
  return marked(handler, { kind: 'own', label: 'authCallback' });
}

function apiOf(authOrConfig: AuthOrConfig): OAuthApi | undefined {
  const auth = 'getSession' in authOrConfig ? authOrConfig : createAuth(authOrConfig);
  return (auth as { readonly oauth?: OAuthApi }).oauth;
}

function checkProvider(api: OAuthApi | undefined, provider: string): void {
  if (!api) throw new TypeError('latchkey: authCallback requires oauth() in plugins');
  const { providers } = api;
  if (!providers.includes(provider))
    throw new TypeError(
      `latchkey: authCallback: ${provider} is not a provider in plugins: pass one of ${providers.join(', ')}`,
    );
  if (!api.returnsToApp(provider))
    throw new TypeError(
      `latchkey: authCallback: set callbackUrl of the provider ${provider} to the path of this handler`,
    );
}
