import { ceremonies } from './ceremonies.js';
import type {
  AdminClient,
  ApiKeysClient,
  AuditLogClient,
  CoreClient,
  CredentialClient,
  EmailSignInClient,
  OAuthClient,
  OrganizationsClient,
  SuspensionClient,
  TwoFactorClient,
} from './generated/methods.js';
import { ROUTES } from './generated/routes.js';
import { type HumanClient, type HumanToken, humanClient, withTokens } from './human.js';
import type { PasskeysClient } from './passkeys.js';
import type { CallOptions, Result } from './result.js';
import { type OwnSessionStore, type SessionStore, sessionStore } from './session-store.js';
import type { AnyShape } from './shape.js';
import { type BearerStore, type Route, type Routes, type Send, says, transport } from './transport.js';

/** Options of {@link createClient}. */
export interface ClientOptions<S extends AnyShape = AnyShape> {
  /** Where the routes are: a path of this origin, or a URL. @default '/auth' */
  readonly baseUrl?: string;
  /** Where the session token is kept, for clients without cookies. The server must have `bearerEnabled`. @default cookies */
  readonly bearer?: true extends S['bearer'] ? BearerStore : never;
  /**
   * Returns a token of the server's `humanCheck`, such as `() => client.humanChallenge()`. It is called before a sign-up
   * with a password and a request for an emailed sign-in or a password reset. For other routes, it is called if the server has refused a request without a token, which is then sent once more.
   * @default none
   */
  readonly humanToken?: HumanToken;
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
  /** The routes of `organizations()`. */
  readonly organizations: OrganizationsClient<S>;
  /** The routes of `passkeys()`. */
  readonly passkeys: PasskeysClient<S>;
  /** The routes of `suspension()`. */
  readonly suspension: SuspensionClient<S>;
  /** The routes of `twoFactor()`. */
  readonly twoFactor: TwoFactorClient<S>;
}

/** A client, with the routes of the core and of the plugins in `S`. */
export type Client<S extends AnyShape> = Omit<CoreClient<S>, keyof HumanClient> &
  HumanClient & {
    /** The current session, as a store. */
    readonly session: SessionStore<S>;
  } & Pick<PluginClients<S>, S['plugins']>;

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
  humanToken,
  // Browsers require it to be called as a method of the window.
  fetch = (...given) => globalThis.fetch(...given),
}: ClientOptions<S> = {}): Client<S> {
  const load = transport({ baseUrl, bearer, fetch });
  const session: OwnSessionStore = sessionStore(
    () => load(ROUTES.me) as Promise<Result<{ user: unknown; session: unknown }>>,
    `latchkey ${baseUrl}`,
  );
  const call = transport({ baseUrl, bearer, fetch, changed: session.changed });
  const send = humanToken ? withTokens(call, humanToken) : call;
  const client = { ...methodsOf(ROUTES, send), ...humanClient(send), session } as unknown as Client<AnyShape>;
  Object.assign(client.passkeys, ceremonies(send));
  return client as unknown as Client<S>;
}

/** Creates the methods that call routes, in objects like those that have the routes. */
function methodsOf(routes: Routes, send: Send): object {
  const methods: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(routes))
    methods[name] = typeof one === 'string' ? methodOf(one, send) : methodsOf(one, send);
  return methods;
}

/** Creates a method. Its arguments are the parameters of the path, the input if there is one, and options. */
function methodOf(route: Route, send: Send) {
  const count = route.split(':').length - 1;
  return (...given: unknown[]) => {
    const parameters = given.splice(0, count);
    const input = says(route, 'input') ? given.shift() : null;
    return send(route, input, given[0] as CallOptions, parameters);
  };
}
