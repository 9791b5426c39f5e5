import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keepingIdle } from './client.js';

// Bypasses the package's index, which logs a warning on every Node version but the newest, and its default
// adapter and keys, which log warnings too. The console of a spec should show only failures.
const { Provider } = (await import(
  'oidc-provider/lib/provider.js' as string
)) as typeof import('oidc-provider');
const { createMemoryAdapter } = await import('oidc-provider/lib/adapters/memory_adapter.js' as string);
const CLOCK_TOLERANCE = 0;

/** A user at the provider. */
export interface Person {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
}

export interface OidcServer {
  readonly issuer: string;
  /** The user whom the provider signs in without asking, unless the browser's cookie names another user. */
  person: Person;
  /** Whether this user declines. */
  declines: boolean;
  /** Whether a refresh issues a new refresh token and invalidates the old one. */
  rotates: boolean;
  /** The number of requests to the token endpoint, and how long each takes. */
  tokenCalls: number;
  tokenDelayMs: number;
  /** The tokens that clients have revoked. */
  readonly revoked: string[];
  stop(): Promise<void>;
}

export const CLIENT = { clientId: 'latchkey-spec', clientSecret: 'the secret of the client at the provider' };

// Keys take long to generate, so the providers of a process share one.
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Starts a real, certified OpenID provider on this machine that signs users in without asking. */
export async function startOidcServer(redirectUris: string[], port = 0): Promise<OidcServer> {
  const server: Server = keepingIdle(createServer());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: OidcServer = {
    issuer,
    person: { sub: 'ada', email: 'ada@example.com', email_verified: true },
    declines: false,
    rotates: true,
    tokenCalls: 0,
    tokenDelayMs: 0,
    revoked: [],
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const people = new Map<string, Person>();
  const provider = new Provider(issuer, {
    adapter: createMemoryAdapter(CLOCK_TOLERANCE),
    clockTolerance: CLOCK_TOLERANCE,
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', kid: 'of-this-run' }] },
    ttl: {
      AccessToken: 3600,
      IdToken: 3600,
      RefreshToken: 86_400,
      Interaction: 600,
      Session: 600,
      Grant: 86_400,
    },
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a key for the cookies of the provider'] },
    features: {
      devInteractions: { enabled: false },
      // The default does the same, but logs a notice.
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
    },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    issueRefreshToken: async () => true,
    rotateRefreshToken: () => state.rotates,
    findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ ...people.get(id), sub: id }) }),
  });
  provider.on('access_token.destroyed', ({ jti }) => void state.revoked.push(`access_token ${jti}`));
  provider.on('refresh_token.destroyed', ({ jti }) => void state.revoked.push(`refresh_token ${jti}`));
  const handle = provider.callback();
  server.on('request', async (req, res) => {
    if (req.url?.startsWith('/interaction/')) {
      const { prompt, params, session, grantId } = await provider.interactionDetails(req, res);
      if (state.declines) {
        return provider.interactionFinished(
          req,
          res,
          { error: 'access_denied' },
          { mergeWithLastSubmission: false },
        );
      }
      if (prompt.name === 'login') {
        const person = personIn(req.headers.cookie) ?? state.person;
        people.set(person.sub, person);
        return provider.interactionFinished(req, res, { login: { accountId: person.sub } });
      }
      const grant = grantId
        ? await provider.Grant.find(grantId)
        : new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params.client_id) });
      grant?.addOIDCScope(String(params.scope));
      const id = await grant?.save();
      return provider.interactionFinished(
        req,
        res,
        { consent: { grantId: id } },
        { mergeWithLastSubmission: true },
      );
    }
    if (req.url?.startsWith('/token')) {
      state.tokenCalls++;
      await new Promise((resolve) => setTimeout(resolve, state.tokenDelayMs));
    }
    return handle(req, res);
  });
  return state;
}

const PERSON_COOKIE = 'person';

/** Returns the user that the browser's cookie names. Null if it names none. */
function personIn(cookies = ''): Person | null {
  const [, value] = new RegExp(`(?:^|; )${PERSON_COOKIE}=([^;]*)`).exec(cookies) ?? [];
  return value === undefined ? null : (JSON.parse(decodeURIComponent(value)) as Person);
}

/**
 * Follows redirects at the provider like a browser without cookies, until the provider redirects to the app.
 *
 * @param person the user of this browser, if several users sign in at the same time. By default the provider's `person`
 * @returns the URL of the app that the provider redirects to
 */
export async function visitProvider(url: string, person?: Person): Promise<string> {
  const { origin } = new URL(url);
  const cookies = new Map<string, string>();
  if (person) cookies.set(PERSON_COOKIE, encodeURIComponent(JSON.stringify(person)));
  let next = url;
  for (let step = 0; step < 10 && new URL(next).origin === origin; step++) {
    const response = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (!location) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    next = new URL(location, next).href;
  }
  return next;
}
