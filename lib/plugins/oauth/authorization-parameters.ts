import { type FlowPurpose, isOidc, type Provider } from './provider.js';

/** An authorization request, apart from the secrets of its flow. */
export interface AuthorizationTarget {
  readonly redirectUri: string;
  readonly purpose: FlowPurpose;
  /** The account that the user probably has at the provider (OpenID Connect Core 1.0, 3.1.2.1). */
  readonly loginHint?: string | undefined;
}

/** Parameters that belong to the flow: what an app or a module set here could break or weaken it. */
export const FLOW_PARAMETERS: ReadonlySet<string> = new Set([
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);

// `max_age` also requests `auth_time`. Some providers only know `prompt` (OpenID Connect Core 1.0, 3.1.2.1).
const REAUTHENTICATION = { max_age: '0', prompt: 'login' };

/** The parameters of an authorization request that depend on the provider and its options. */
export function authorizationParameters(
  provider: Provider,
  { purpose, loginHint }: Pick<AuthorizationTarget, 'purpose' | 'loginHint'>,
): Record<string, string> {
  const {
    scopes,
    authorizeParameters,
    parametersFor,
    appParameters,
    loginHintParameter = 'login_hint',
  } = provider;
  const byPurpose =
    parametersFor?.[purpose] ?? (purpose === 'reauthenticate' && isOidc(provider) ? REAUTHENTICATION : {});
  const prompt = combined(authorizeParameters?.prompt, byPurpose.prompt, appParameters?.prompt);
  return {
    ...authorizeParameters,
    ...appParameters,
    ...byPurpose,
    ...(prompt && { prompt }),
    ...(loginHint !== undefined && { [loginHintParameter]: loginHint }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
}

/** Prompts are a list, in which `none` must stand alone (OpenID Connect Core 1.0, 3.1.2.1). */
function combined(...prompts: (string | undefined)[]): string {
  const all = new Set(prompts.join(' ').split(' ').filter(Boolean));
  if (all.size > 1) all.delete('none');
  return [...all].join(' ');
}
