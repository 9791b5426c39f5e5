import { isUuid } from '../../crypto/uuid.js';
import { AuthError } from '../../errors.js';
import { checkCallbackUrl } from '../../http/callback-url.js';
import { say } from '../../phrases.js';
import type { ProviderClient } from './client.js';
import { flowSecrets, randomToken, setFlowCookie } from './flows.js';
import type { AuthorizeInput } from './inputs.js';
import { type FlowPurpose, isOidc } from './provider.js';
import { redirectUriOf } from './redirect-uri.js';
import { clientOf, type OAuthServices } from './services.js';

/** The URL to redirect the browser to, and the cookie that binds the flow to the browser. */
export interface AuthorizationRequest {
  /** The provider's authorization endpoint with the parameters of this flow. */
  readonly url: string;
  /** The `Set-Cookie` headers to send, which bind the flow to this browser. */
  readonly setCookie: readonly string[];
  /** The value of the flow cookie, for apps that set the cookie themselves. */
  readonly browser: string;
}

const MAX_LOGIN_HINT = 320;

/** A flow to start. */
interface NewFlow {
  readonly provider: string;
  readonly purpose: FlowPurpose;
  /** The session that links or reauthenticates. Null for a sign-in. */
  readonly sessionId: string | null;
}

const OF_FLOW = ['callbackUrl', 'browser', 'basePath'];

/** The calls that start a flow, and the keys that they accept. */
const CALLS: Readonly<Record<FlowPurpose, readonly [name: string, keys: readonly string[]]>> = {
  'sign-in': ['auth.oauth.authorizeUrl', [...OF_FLOW, 'rememberMe', 'loginHint']],
  link: ['auth.oauth.linkUrl', OF_FLOW],
  reauthenticate: ['auth.oauth.reauthenticateUrl', OF_FLOW],
};

/**
 * Starts a flow. The flow is stored only if the provider can be reached.
 *
 * @throws AuthError `provider_not_found`, `invalid_callback_url`, `invalid_request`, `provider_error`; for a sign-in
 *   `rate_limited`; for a link `invalid_session`; for a reauthentication `account_not_linked`,
 *   `reauthentication_required`
 */
export function beginFlow(
  services: OAuthServices,
  { provider, purpose, sessionId }: NewFlow,
  input: AuthorizeInput,
): Promise<AuthorizationRequest> {
  const { core, flows } = services;
  const [call, keys] = CALLS[purpose];
  return core.callByAnyone(call, input, keys, async () => {
    await core.sessions.requireOwn(sessionId);
    const client = clientOf(services, provider);
    const { callbackUrl = `${core.settings.publicPath}/`, browser = randomToken() } = input;
    const { rememberMe = false, loginHint } = input;
    checkLoginHint(loginHint);
    const flow = {
      provider,
      sessionId,
      callbackUrl: checkCallbackUrl(callbackUrl, core.settings.origins),
      redirectUri: redirectUriOf(core, client.provider, input.basePath),
      secrets: flowSecrets(),
      remembered: rememberMe === true,
      reauthenticates: purpose === 'reauthenticate',
    };
    if (purpose === 'sign-in') await core.limiter.countAddress('signIn');
    // JavaScript callers might omit the session id, and the flow would then be stored as a sign-in.
    else if (!isUuid(sessionId)) throw new AuthError('invalid_session');
    else if (flow.reauthenticates) await checkReauthentication(services, client, sessionId);
    const { redirectUri, secrets } = flow;
    const url = await client.authorizationUrl(secrets, { redirectUri, purpose, loginHint });
    await flows.begin(flow, browser);
    return {
      url,
      setCookie: setFlowCookie(core, core.context.client.request, secrets.state, browser),
      browser,
    };
  });
}

function checkLoginHint(hint: string | undefined): void {
  if (hint === undefined) return;
  // JavaScript callers might pass a value of another type.
  const isText = typeof hint === 'string' && hint !== '' && hint.isWellFormed() && !hint.includes('\0');
  if (!isText || hint.length > MAX_LOGIN_HINT)
    throw new AuthError('invalid_request', {
      detail: `login_hint must be a string of at most ${MAX_LOGIN_HINT} characters.`,
    });
}

async function checkReauthentication(
  services: OAuthServices,
  client: ProviderClient,
  sessionId: string,
): Promise<void> {
  if (!(await services.accounts.findBySession(sessionId, client.provider.id)))
    throw new AuthError('account_not_linked');
  // Plain OAuth 2.0 has no ID token, and therefore no `auth_time`.
  if (!isOidc(client.provider)) throw noAuthenticationTime();
}

/** The error for a provider that does not report when its user signed in. */
export function noAuthenticationTime(): AuthError {
  return new AuthError('reauthentication_required', {
    detail: say('no-authentication-time'),
  });
}
