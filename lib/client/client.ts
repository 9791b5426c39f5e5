import { ADMIN, type AdminClient } from './admin.js';
import { API_KEYS, type ApiKeysClient } from './api-keys.js';
import { AUDIT_LOG, type AuditLogClient } from './audit-log.js';
import { ceremonies, signalAccepted } from './ceremonies.js';
import { CORE, type CoreClient } from './core.js';
import { CREDENTIAL, type CredentialClient } from './credential.js';
import { EMAIL_SIGN_IN, type EmailSignInClient } from './email-sign-in.js';
import { OAUTH, type OAuthClient } from './oauth.js';
import { PASSKEY_ROUTES, PASSKEYS, type PasskeysClient } from './passkeys.js';
import type { Result } from './result.js';
import { type OwnSessionStore, type SessionStore, sessionStore } from './session-store.js';
import type { AnyShape, ClientPlugin } from './shape.js';
import { SUSPENSION, type SuspensionClient } from './suspension.js';
import { type BearerStore, type Route, type Send, signalOf, transport } from './transport.js';
import { TWO_FACTOR, type TwoFactorClient } from './two-factor.js';

/** Options of {@link createClient}. */
export interface ClientOptions<S extends AnyShape = AnyShape> {
  /** Where the routes are: a path of this origin, or a URL. @default '/auth' */
  readonly baseUrl?: string;
  /** Where the session token is kept, for clients without cookies. The server must have `bearerEnabled`. @default cookies */
  readonly bearer?: true extends S['bearer'] ? BearerStore : never;
  /** Sends requests in place of the global `fetch`. @default fetch */
  readonly fetch?: typeof globalThis.fetch;
}

interface PluginClients<S extends AnyShape> {
  /** The routes of `admin()`. */
  readonly admin: AdminClient<S>;
  /** The routes of `apiKeys()`. */
  readonly apiKeys: ApiKeysClient;
  /** The routes of `auditLog()`. */
  readonly auditLog: AuditLogClient;
  /** The routes of `credentialPassword()`. */
  readonly credential: CredentialClient<S>;
  /** The routes of `emailSignIn()`. */
  readonly emailSignIn: EmailSignInClient<S>;
  /** The routes of `oauth()`. */
  readonly oauth: OAuthClient;
  /** The routes of `passkeys()`. */
  readonly passkeys: PasskeysClient<S>;
  /** The routes of `suspension()`. */
  readonly suspension: SuspensionClient<S>;
  /** The routes of `twoFactor()`. */
  readonly twoFactor: TwoFactorClient<S>;
}

/** A client, with the routes of the core and of the plugins in `S`. */
export type Client<S extends AnyShape> = CoreClient<S> & {
  /** The current session, as a store. */
  readonly session: SessionStore<S>;
} & Pick<PluginClients<S>, S['plugins']>;

/**
 * The routes of each plugin, by the names of their methods.
 *
 * @internal
 */
export const PLUGINS: Readonly<Record<ClientPlugin, Readonly<Record<string, Route>>>> = {
  admin: ADMIN,
  apiKeys: API_KEYS,
  auditLog: AUDIT_LOG,
  credential: CREDENTIAL,
  emailSignIn: EMAIL_SIGN_IN,
  oauth: OAUTH,
  passkeys: PASSKEYS,
  suspension: SUSPENSION,
  twoFactor: TWO_FACTOR,
};

/**
 * Creates a client of the routes, for browsers, React Native, Node and Deno. Creating it sends nothing.
 *
 * @example
 * const client = createClient<Shape>();
 * const { data, error } = await client.credential.signIn({ credential, password });
 */
export function createClient<S extends AnyShape>({
  baseUrl = '/auth',
  bearer,
  // Browsers require it to be called as a method of the window.
  fetch = (...given) => globalThis.fetch(...given),
}: ClientOptions<S> = {}): Client<S> {
  const call = transport({ baseUrl, bearer: bearer ?? null, fetch });
  const send: Send = async (route, given = []) => {
    const result = await call(route, given);
    const isRefused = result.error?.code === 'invalid_session';
    if (isRefused || (!result.error && route.includes(' session')))
      await session.changed(signalOf(route, given));
    return result;
  };
  const session: OwnSessionStore = sessionStore(
    () => call(CORE.me) as Promise<Result<{ user: unknown; session: unknown }>>,
    `latchkey ${baseUrl}`,
  );
  const methodsOf = (routes: Readonly<Record<string, Route>>) =>
    Object.fromEntries(
      Object.entries(routes).map(([name, route]) => [
        name,
        (...given: readonly unknown[]) => send(route, given),
      ]),
    );
  const plugins = Object.entries(PLUGINS).map(([name, routes]) => [name, methodsOf(routes)]);
  const client = { ...methodsOf(CORE), session, ...Object.fromEntries(plugins) };
  const { list } = client.passkeys;
  Object.assign(client.passkeys, ceremonies(send), {
    routes: methodsOf(PASSKEY_ROUTES),
    async list(...given: readonly unknown[]) {
      const result = await list(...given);
      signalAccepted(result);
      return result;
    },
  });
  return client as unknown as Client<S>;
}
