import { confirmSession } from '../../accounts/reauthentication.js';
import type { PlainRequest } from '../../context/call.js';
import type { Core } from '../../core/core.js';
import { AuthError, type AuthErrorCode } from '../../errors.js';
import { withError, withSecondFactor } from '../../http/callback-url.js';
import { sessionOf } from '../../sessions/carriers.js';
import type { SessionWithUser } from '../../sessions/sessions.js';
import { type IssuedSession, isPending, NEVER, type SignedIn } from '../../sessions/signed-in.js';
import { canonicalEmail } from '../../users/canonical.js';
import { noAuthenticationTime } from './begin-flow.js';
import type { Identity, ProviderClient } from './client.js';
import { clearFlowCookie, readFlowCookie, type TakenFlow } from './flows.js';
import { ProviderUser } from './identities.js';
import type { CallbackInput } from './inputs.js';
import { clientOf, type OAuthServices } from './services.js';

/** The result of a flow. */
export interface CallbackResult<Outcome extends SignedIn = IssuedSession> {
  /** The URL to redirect the browser to. It has `?error=<code>` if the flow failed, or `?second_factor=required`. */
  readonly callbackUrl: string;
  /**
   * The new session, or the session that got a new token because its user reauthenticated with a provider that is
   * trusted with the second factor. Null for a link, for any other reauthentication, or if the flow failed.
   */
  readonly issued: Outcome | null;
  /** The code of the error, if the flow failed. Null otherwise. */
  readonly error: AuthErrorCode | null;
  /**
   * The email that an account already has, with the error `account_exists`. The provider has verified that it belongs to the
   * person in this browser, so a page can fill it in. Null otherwise.
   */
  readonly takenEmail: string | null;
  /** The `Set-Cookie` headers to send, which remove the flow's cookie. */
  readonly setCookie: readonly string[];
}

/** `auth_time` is in whole seconds, and the provider's clock might be a little behind. */
const CLOCK_TOLERANCE_MS = 10_000;
/** A later `auth_time` is a mistake, such as milliseconds, and would make an earlier sign-in look like a new one. */
const MAX_FUTURE_MS = 300_000;
/** An account can reauthenticate a session only if it was linked within this time after the user's last sign-in. */
const LINKING_MS = 600_000;

/** Completes a flow when the browser returns. @throws AuthError `provider_not_found`, `invalid_flow`, `unavailable` */
export async function completeFlow(
  services: OAuthServices,
  input: CallbackInput,
): Promise<CallbackResult<SignedIn>> {
  const { core } = services;
  const client = clientOf(services, input.provider);
  const flow = await takeFlow(services, input);
  const current = await sessionOfFlow(services, flow);
  const setCookie = clearedCookie(services, flow);
  let person: ProviderUser | null = null;
  try {
    const complete = async () => {
      person = new ProviderUser(services, client.provider, await identityOf(client, flow, input));
      return outcomeOf(services, flow, person, current);
    };
    const issued = await (current ? complete() : core.countSignIn('provider', complete));
    const waits = issued !== null && isPending(issued);
    const callbackUrl = waits ? withSecondFactor(flow.callbackUrl) : flow.callbackUrl;
    return {
      callbackUrl: withoutFragment(client, callbackUrl),
      issued,
      error: null,
      takenEmail: null,
      setCookie,
    };
  } catch (error) {
    // The flow is valid, so the app gets the error at the callback URL.
    if (!(error instanceof AuthError) || error.code === 'unavailable') throw error;
    if (!current || flow.reauthenticates) {
      core.events.emit('sign_in.failed', { userId: current?.user.id ?? null, provider: input.provider });
    }
    // The session ended while the browser was at the provider, so the flow is no longer valid either.
    const code = error.code === 'invalid_session' ? 'invalid_flow' : error.code;
    const callbackUrl = withoutFragment(client, withError(flow.callbackUrl, code));
    const takenEmail = code === 'account_exists' ? emailOf(person) : null;
    return { callbackUrl, issued: null, error: code, takenEmail, setCookie };
  }
}

/** Returns the email of a person at the provider. */
function emailOf(person: ProviderUser | null): string | null {
  return canonicalEmail(person?.identity.profile.email);
}

/** Takes the flow that this browser started at this provider. A flow can be taken once. @throws AuthError `invalid_flow` */
async function takeFlow(
  { core, flows }: OAuthServices,
  { provider, parameters, browser }: CallbackInput,
): Promise<TakenFlow> {
  const { request } = core.context.client;
  const state = parameters.get('state');
  const value = browser ?? (state && request ? readFlowCookie(core, request, state) : undefined);
  const tokens = request ? core.sessionTokens(request) : [];
  const flow = state && value ? await flows.take(state, value, provider, tokens) : null;
  if (!flow) throw new AuthError('invalid_flow');
  return flow;
}

/** The session that started a link or a reauthentication. Null for a sign-in. @throws AuthError `invalid_flow` */
async function sessionOfFlow(
  { core }: OAuthServices,
  { sessionId, reauthenticates }: TakenFlow,
): Promise<SessionWithUser | null> {
  const { request } = core.context.client;
  const find = (from: PlainRequest) =>
    reauthenticates ? sessionOf(core.carriers, from) : core.usableSession(from);
  const current = sessionId !== null && request ? await find(request) : null;
  if (sessionId !== (current?.session.id ?? null)) throw new AuthError('invalid_flow');
  return current;
}

function clearedCookie({ core }: OAuthServices, { secrets }: TakenFlow): readonly string[] {
  const { request } = core.context.client;
  return request ? clearFlowCookie(core, request, secrets.state) : [];
}

/** Redeems the provider's response, and verifies it. */
async function identityOf(
  client: ProviderClient,
  flow: TakenFlow,
  { parameters }: CallbackInput,
): Promise<Identity> {
  const identity = await client.redeem(parameters, flow.secrets, flow.redirectUri);
  const unsigned = { ...flow.unsignedClaims, ...client.provider.unsignedClaims?.(parameters) };
  // Claims that the provider has signed, or returned itself, take precedence.
  return { ...identity, claims: { ...unsigned, ...identity.claims } };
}

/** @returns the session or pending sign-in to send; null if there is nothing to send */
async function outcomeOf(
  { core }: OAuthServices,
  flow: TakenFlow,
  person: ProviderUser,
  current: SessionWithUser | null,
): Promise<SignedIn | null> {
  if (!current) return signIn(core, flow, person);
  if (flow.reauthenticates) return reauthenticate(core, flow, person, current);
  await person.linkTo(current);
  return null;
}

/** Adds an empty fragment if needed, because the browser would otherwise keep the fragment that the provider added. */
function withoutFragment({ provider }: ProviderClient, url: string): string {
  return provider.addsFragment && !url.includes('#') ? `${url}#` : url;
}

async function signIn(
  core: Core,
  { remembered, presented }: TakenFlow,
  person: ProviderUser,
): Promise<SignedIn> {
  const { isNew = false, ...found } = await person.findOrCreate();
  const { authenticatedAt } = person.identity;
  const options = { remembered, authenticatedAt, replaced: presented, isSignUp: isNew };
  return core.signIn({ ...found, ...person.shown }, options);
}

/**
 * Marks the session as authenticated at the time that the provider states. This time must be after the start of the
 * flow, because a provider that has not asked the user to sign in again returns the time of an earlier sign-in. The
 * account must have been linked while the session was fresh, because an attacker with an older session could link their
 * own account.
 *
 * If the user has a second factor, the reauthentication counts only if the provider is trusted to ask for one. The
 * session then gets a new token.
 */
async function reauthenticate(
  core: Core,
  { startedAt }: TakenFlow,
  person: ProviderUser,
  { user, session }: SessionWithUser,
): Promise<IssuedSession | null> {
  const account = await person.linkOf(user.id);
  if (!account) throw new AuthError('account_not_linked');
  const { authenticatedAt } = person.identity;
  if (!authenticatedAt) throw noAuthenticationTime();
  const at = authenticatedAt.getTime();
  const isNew = at >= startedAt.getTime() - CLOCK_TOLERANCE_MS;
  const [linkedAt, begunAt] = [account.createdAt.getTime(), session.createdAt.getTime()];
  // A session that was taken over from another system proves nothing, so the link must be older than the session.
  const isProved = session.authenticatedAt > NEVER;
  const provedAt = Math.max(begunAt, session.authenticatedAt.getTime());
  const wasLinkedByUser = linkedAt <= (isProved ? provedAt + LINKING_MS : begunAt);
  if (!isNew || at > core.database.clock.now() + MAX_FUTURE_MS || !wasLinkedByUser)
    throw new AuthError('reauthentication_required');
  const by = { sessionId: session.id, changesWaysIn: false };
  return core.change(user.id, by, async (record, transaction) => {
    if (!(await person.updateTokens(account, transaction))) throw new AuthError('account_not_linked');
    const reauthenticated = { sessionId: session.id, shown: person.shown, at: authenticatedAt };
    return confirmSession(core, record, reauthenticated, transaction);
  });
}
