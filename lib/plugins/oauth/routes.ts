import type { Request } from 'express';
import * as z from 'zod';
import type { Core } from '../../core/core.js';
import { AuthError, type AuthErrorCode } from '../../errors.js';
import { checkParameters, queryOf } from '../../http/body.js';
import { checkCallbackUrl, withError } from '../../http/callback-url.js';
import { resourceOf } from '../../http/present.js';
import { type Call, named, type Reply, type Route, route, text, time } from '../../http/route.js';
import { isNavigation, refuseCrossSiteExceptLinks, requireOwnStart } from '../../sessions/origin.js';
import type { OAuthApi } from './api.js';
import type { AuthorizationRequest } from './begin-flow.js';
import { type Account, accountsTable } from './declarations.js';
import type { FlowInput } from './inputs.js';
import type { Provider } from './provider.js';
import { ownPathOf } from './redirect-uri.js';
import type { ProviderTokens } from './tokens.js';

export const authorize = (core: Core, api: OAuthApi) =>
  route({
    ...toProvider,
    query: toProvider.query.extend({
      remember_me: z
        .enum(['true', 'false'], 'must be true or false')
        .optional()
        .describe('Keep the session when the browser is closed'),
      login_hint: text(320)
        .optional()
        .describe('The account that the user probably has at the provider, such as an email'),
    }),
    problems: [...toProvider.problems, 'rate_limited'],
    method: 'get',
    path: '/oauth/:provider/authorize',
    client: 'oauth.authorize',
    summary: 'Start a sign-in with a provider, such as google',
    access: 'public',
    async handle({ req, params: { provider = '' }, query }) {
      refuseCrossSiteExceptLinks(req, core.settings);
      const request = await api.authorizeUrl(provider, {
        ...flowInput(core, req, query.callback_url),
        rememberMe: query.remember_me === 'true',
        loginHint: query.login_hint,
      });
      return sendToProvider(req, request);
    },
  });

export const link = (core: Core, api: OAuthApi) =>
  route({
    ...toProvider,
    method: 'get',
    path: '/oauth/:provider/link',
    client: 'oauth.link',
    summary: 'Start linking an account at a provider, after a recent sign-in',
    access: 'session',
    sensitive: { asks: 'fresh' },
    whenNotRecent: (error, req) => backToPage(core, error, req),
    problems: [...toProvider.problems, 'rate_limited'],
    handle: startFor(core, 'link', (...given) => api.linkUrl(...given)),
  });

export const reauthenticate = (core: Core, api: OAuthApi) =>
  route({
    ...toProvider,
    method: 'get',
    path: '/oauth/:provider/reauthenticate',
    client: 'oauth.reauthenticate',
    summary: 'Start a reauthentication with a linked provider, for actions that require a recent sign-in',
    access: 'session',
    openTo: 'any-task',
    problems: [...toProvider.problems, 'account_not_linked', 'reauthentication_required', 'rate_limited'],
    handle: startFor(core, 'reauthenticate', (...given) => api.reauthenticateUrl(...given)),
  });

/** The common parts of `authorize`, `link` and `reauthenticate`, which redirect a browser to a provider. */
const toProvider = {
  query: named(
    'FlowInput',
    'The page where the browser arrives after the provider',
    z.object({
      callback_url: text(2048)
        .optional()
        .describe(
          'Where to redirect afterwards: a path of this origin, or a URL of a trusted one. By default the root of this app',
        ),
    }),
  ),
  answers: {
    302: { description: 'Redirect to the provider' },
    200: {
      description: 'The URL of the provider, for clients that prefer application/json',
      schema: z.object({ url: z.url() }),
    },
  },
  problems: ['provider_not_found', 'invalid_callback_url', 'origin_not_allowed', 'provider_error'],
} as const satisfies { query: z.ZodType; answers: object; problems: readonly AuthErrorCode[] };

/** Starts a flow for the user of the request's session. */
function startFor(
  core: Core,
  what: 'link' | 'reauthenticate',
  start: (provider: string, sessionId: string, input: FlowInput) => Promise<AuthorizationRequest>,
) {
  return async (call: Call<'session', unknown, z.infer<typeof toProvider.query>>): Promise<Reply> => {
    const { req, auth, params, query } = call;
    // A client without cookies sends its token on purpose.
    if (auth.via !== 'bearer') requireOwnStart(req, core.settings);
    const input = flowInput(core, req, query.callback_url);
    try {
      await core.limiter.countAccount('providerLink', auth.user.id, what);
    } catch (error) {
      const reply = error instanceof AuthError ? backToPage(core, error, req) : null;
      if (reply) return reply;
      throw error;
    }
    return sendToProvider(req, await start(params.provider ?? '', auth.session.id, input));
  };
}

/** Sends a browser whose user must authenticate first back to the page that it came from, with the error. */
function backToPage({ settings }: Core, { code, task }: AuthError, req: Request): Reply | null {
  if (!isNavigation(req)) return null;
  // Another site must not send visitors to a page that asks them to reauthenticate.
  requireOwnStart(req, settings);
  const { callback_url: callbackUrl = `${settings.publicPath}/` } = checkParameters(
    queryOf(req),
    toProvider.query,
  );
  const location = withError(checkCallbackUrl(callbackUrl, settings.origins), code, { task });
  return { status: 303, headers: { Location: location }, error: code };
}

/** The input of a flow that a request starts. */
function flowInput(core: Core, req: Request, callbackUrl: string | undefined): FlowInput {
  return {
    ...(callbackUrl !== undefined && { callbackUrl }),
    basePath: core.settings.httpBasePath ?? req.baseUrl,
  };
}

/** Redirects the browser to the provider, or returns the URL to clients that prefer JSON. */
function sendToProvider(req: Request, { url, setCookie }: AuthorizationRequest): Reply {
  const headers = { 'Set-Cookie': setCookie };
  if (req.accepts(['html', 'json']) === 'json') return { status: 200, body: { url }, headers };
  return { status: 302, headers: { ...headers, Location: url } };
}

// Providers can send additional parameters.
const parameters = z.record(z.string(), z.string());
type Parameters = z.infer<typeof parameters>;

/** The path of the callback routes of all providers without their own path. */
export const CALLBACK_PATH = '/oauth/:provider/callback';

/** The routes at which the browser returns from a provider. */
export const callbacks = (api: OAuthApi, errorUrl: () => string): readonly Route[] => [
  callback(api, errorUrl),
  formCallback(api, errorUrl),
];

/** Returns the callback routes of a provider if the app has chosen their path. */
export function callbacksOf(provider: Provider, routes: readonly Route[]): Route[] {
  const path = ownPathOf(provider);
  const chosenBy = `provider ${provider.id}: callbackPath`;
  return path === null ? [] : callbacksAt(path, provider.id, routes).map((one) => ({ ...one, chosenBy }));
}

/** Returns the same routes at another path, for one provider. */
export function callbacksAt(path: string, provider: string, routes: readonly Route[]): Route[] {
  return routes.map((one) => ({
    ...one,
    path,
    summary: one.summary.replace('a provider', provider),
    handle: (call) => one.handle({ ...call, params: { provider } }),
  }));
}

const shared = {
  path: CALLBACK_PATH,
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

const callback = (api: OAuthApi, errorUrl: () => string) =>
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

/** Accepts responses with `response_mode=form_post`, which Apple requires. */
const formCallback = (api: OAuthApi, errorUrl: () => string) =>
  route({
    ...shared,
    method: 'post',
    summary: 'Complete a flow after a form post from a provider',
    fromOtherSites: true,
    formPost: parameters,
    handle(call) {
      return toPage(call.req, errorUrl, async () => {
        try {
          return await complete(api, call);
        } catch (error) {
          // Browsers send no SameSite=Lax cookies with a form post from another site, but they do with the GET after a
          // redirect.
          const { params, query } = call;
          if (!(error instanceof AuthError) || error.code !== 'invalid_flow') throw error;
          const redirectUri = await api.keepForm(params.provider ?? '', new URLSearchParams(query));
          if (redirectUri === null) throw error;
          return turnIntoGet(redirectUri, query);
        }
      });
    },
  });

async function complete(
  api: OAuthApi,
  { params, query }: Call<'public', unknown, Parameters>,
): Promise<Reply> {
  const { callbackUrl, issued, error, takenEmail, setCookie } = await api.callback({
    provider: params.provider ?? '',
    parameters: new URLSearchParams(query),
  });
  const headers = { Location: callbackUrl, 'Set-Cookie': setCookie };
  return {
    status: 303,
    headers,
    ...(issued && { issue: issued }),
    ...(error && { error, email: takenEmail }),
  };
}

/** Redirects a browser without a valid flow to a page, instead of returning an error response. */
async function toPage(req: Request, errorUrl: () => string, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (!isNavigation(req) || !(error instanceof AuthError) || error.code !== 'invalid_flow') throw error;
    return { status: 303, headers: { Location: withError(errorUrl(), error.code) }, error: error.code };
  }
}

function turnIntoGet(redirectUri: string, { code, state, iss, error }: Parameters): Reply {
  const kept = Object.entries({ code, state, iss, error }).filter((pair): pair is [string, string] =>
    Boolean(pair[1]),
  );
  const { pathname } = new URL(redirectUri);
  return { status: 303, headers: { Location: `${pathname}?${new URLSearchParams(kept)}` } };
}

/** A provider's tokens outlive the session, but apps read them often, so the sign-in can be a day ago. */
const WITHIN_A_DAY = { asks: 'fresh', within: 24 * 60 * 60 } as const;

const accountResource = resourceOf<Account>(
  'LinkedAccount',
  'An account at a provider that is linked to the user',
  accountsTable.columns,
);

export const listAccounts = (api: OAuthApi) =>
  route({
    method: 'get',
    path: '/oauth/accounts',
    client: 'oauth.accounts',
    summary: "List the current user's linked accounts",
    access: 'session',
    answers: {
      200: {
        description: 'The accounts',
        schema: z.object({ accounts: z.array(accountResource.schema) }),
      },
    },
    async handle({ auth }) {
      const accounts = await api.accounts(auth.user.id);
      return { status: 200, body: { accounts: accounts.map(accountResource.present) } };
    },
  });

export const unlink = (api: OAuthApi) =>
  route({
    method: 'delete',
    path: '/oauth/:provider/unlink',
    client: 'oauth.unlink',
    formTwin: '/oauth/:provider/unlink',
    summary: 'Unlink an account, unless it is the last sign-in method',
    access: 'session',
    sensitive: { asks: 'fresh-or-password' },
    answers: { 204: { description: 'The account was unlinked' } },
    problems: ['provider_not_found', 'account_not_linked', 'last_sign_in_method'],
    async handle({ auth, params: { provider = '' } }) {
      await api.unlink(auth.user.id, provider, { sessionId: auth.session.id });
      return { status: 204 };
    },
  });

export const refreshTokens = (api: OAuthApi) =>
  route({
    method: 'post',
    path: '/oauth/:provider/tokens/refresh',
    client: 'oauth.refreshTokens',
    summary: "Refresh a provider's tokens",
    access: 'session',
    sensitive: WITHIN_A_DAY,
    answers: { 200: { description: 'The new tokens', schema: tokensSchema() } },
    problems: [
      'provider_not_found',
      'account_not_linked',
      'refresh_token_missing',
      'relink_required',
      'provider_error',
      'provider_slow',
    ],
    async handle({ auth, params: { provider = '' } }) {
      return { status: 200, body: presentTokens(await api.refresh(auth.user.id, provider)) };
    },
  });

const tokensSchema = () =>
  named(
    'ProviderTokens',
    "A provider's tokens, for its API",
    z.object({
      provider: z.string(),
      access_token: z.string().nullable(),
      refresh_token: z.string().nullable(),
      id_token: z.string().nullable(),
      token_type: z.string().nullable(),
      scopes: z.array(z.string()),
      access_token_expires_at: time.nullable(),
    }),
  );

function presentTokens(tokens: ProviderTokens) {
  return {
    provider: tokens.provider,
    access_token: tokens.accessToken,
    refresh_token: tokens.refreshToken,
    id_token: tokens.idToken,
    token_type: tokens.tokenType,
    scopes: tokens.scopes,
    access_token_expires_at: tokens.accessTokenExpiresAt?.toISOString() ?? null,
  };
}

export const readTokens = (api: OAuthApi) =>
  route({
    method: 'get',
    path: '/oauth/:provider/tokens',
    client: 'oauth.tokens',
    summary: "Read a provider's tokens, for calling its API on behalf of the user",
    access: 'session',
    sensitive: WITHIN_A_DAY,
    answers: { 200: { description: 'The tokens', schema: tokensSchema() } },
    problems: ['provider_not_found', 'account_not_linked', 'relink_required'],
    async handle({ auth, params: { provider = '' } }) {
      return { status: 200, body: presentTokens(await api.tokens(auth.user.id, provider)) };
    },
  });
