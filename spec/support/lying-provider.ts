import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { keepingIdle } from './client.js';

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Creates a key pair for signatures with ES256. */
export const newKeys = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Creates a key pair for signatures with RS256. */
export const newRsaKeys = (): KeyPair => generateKeyPairSync('rsa', { modulusLength: 2048 });

type Answer = (req: IncomingMessage, res: ServerResponse) => void;
type Endpoint = 'discovery' | 'jwks' | 'token' | 'userinfo' | 'emails' | 'revoke';

/** The provider's false values. Without any, the provider is honest. */
export interface Lies {
  /** Claims of the ID token; undefined omits a claim. */
  claims?: Record<string, unknown>;
  /** The algorithm in the ID token's header. */
  alg?: string;
  /** The issuer that the published keys name. */
  keyIssuer?: string;
  /** The key id in the ID token's header and in all published keys; an empty string omits it. */
  kid?: string;
  /** Signs with a key that is not published. */
  wrongKey?: boolean;
  /** Fields of the token endpoint's response; undefined omits a field. */
  tokens?: Record<string, unknown>;
  /** The status of the token endpoint's response. */
  tokenStatus?: number;
  userinfo?: Record<string, unknown>;
  emails?: unknown;
  /** Parameters of the authorization response; undefined omits a parameter. */
  response?: Record<string, string | undefined>;
  metadata?: Record<string, unknown>;
  /** Refuses a request to the token endpoint with the error that it returns. */
  refuses?: (request: TokenRequest) => string | undefined;
  /** Replaces an endpoint completely. */
  answers?: Partial<Record<Endpoint, Answer>>;
}

export interface TokenRequest {
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

export interface LyingProvider {
  readonly issuer: string;
  lies: Lies;
  readonly tokenRequests: TokenRequest[];
  /** The requests to the authorization endpoint. */
  readonly authorizations: URLSearchParams[];
  /** The requests to the userinfo endpoint and similar endpoints. */
  readonly resourceRequests: IncomingMessage[];
  /** The requests to the revocation endpoint, which discovery lists only if the metadata contain it. */
  readonly revocations: (TokenRequest & {
    readonly method: string | undefined;
    readonly url: string;
    body: string;
  })[];
  discoveryRequests: number;
  jwksRequests: number;
  /** The published keys; the last one is used for signatures. */
  keys: KeyPair[];
  stop(): Promise<void>;
}

// The paths of Apple and other providers for the same endpoints.
const ALIASES: Record<string, string> = {
  '.well-known/openid-configuration': 'discovery',
  'auth/authorize': 'authorize',
  'auth/token': 'token',
  'auth/keys': 'jwks',
  'auth/revoke': 'revoke',
  'api/auth.revoke': 'revoke',
};

/** Starts a small OpenID provider in which a spec can falsify every response. */
export async function startLyingProvider(published = newKeys()): Promise<LyingProvider> {
  const other = newKeys();
  const subjects = new Map<string, unknown>();
  const codes = new Map<string, { nonce: string | null; challenge: string | null; clientId: string }>();
  const server = keepingIdle(createServer());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: LyingProvider = {
    issuer,
    lies: {},
    tokenRequests: [],
    authorizations: [],
    resourceRequests: [],
    revocations: [],
    discoveryRequests: 0,
    jwksRequests: 0,
    keys: [published],
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const claimsOf = (nonce: string | null, clientId: string) => {
    const now = Math.floor(Date.now() / 1000);
    const honest = { iss: issuer, aud: clientId, sub: 'ada', email: 'ada@example.com', email_verified: true };
    return { ...honest, iat: now, exp: now + 300, ...(nonce && { nonce }), ...state.lies.claims };
  };
  const idToken = (claims: object) => {
    const { kid = 'k1', wrongKey } = state.lies;
    const key = wrongKey ? other : (state.keys.at(-1) ?? published);
    const { alg = algorithmOf(key.privateKey) } = state.lies;
    return jwt({ alg, ...(kid && { kid }) }, claims, key.privateKey);
  };

  const endpoints: Record<Endpoint | 'authorize', Answer> = {
    discovery(_req, res) {
      state.discoveryRequests++;
      json(res, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256', 'none'],
        authorization_response_iss_parameter_supported: true,
        ...state.lies.metadata,
      });
    },
    jwks(_req, res) {
      state.jwksRequests++;
      const kid = state.lies.kid === '' ? {} : { kid: state.lies.kid ?? 'k1' };
      const named = state.lies.keyIssuer === undefined ? {} : { issuer: state.lies.keyIssuer };
      const keys = state.keys.map(({ publicKey }) => publicKey.export({ format: 'jwk' }));
      json(res, {
        keys: keys.map((key) => ({
          ...key,
          ...kid,
          ...named,
          use: 'sig',
          alg: algorithmOf(published.privateKey),
        })),
      });
    },
    authorize(req, res) {
      const query = new URL(req.url ?? '', issuer).searchParams;
      state.authorizations.push(query);
      const code = `provider-code-${randomBytes(9).toString('hex')}`;
      codes.set(code, {
        nonce: query.get('nonce'),
        challenge: query.get('code_challenge'),
        clientId: query.get('client_id') ?? '',
      });
      const back = new URL(query.get('redirect_uri') ?? '');
      const answer = { code, state: query.get('state'), iss: issuer, ...state.lies.response };
      for (const [name, value] of Object.entries(answer)) if (value) back.searchParams.set(name, value);
      res.writeHead(302, { location: back.href }).end();
    },
    async token(req, res) {
      const form = new URLSearchParams(await text(req));
      const request = { form, authorization: req.headers.authorization };
      state.tokenRequests.push(request);
      const error = state.lies.refuses?.(request);
      if (error) {
        json(res, { error }, 401);
        return;
      }
      const flow = codes.get(form.get('code') ?? '');
      const verifier = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (form.get('grant_type') === 'authorization_code' && flow?.challenge && flow.challenge !== verifier) {
        json(res, { error: 'invalid_grant' }, 400);
        return;
      }
      const clientId = flow?.clientId ?? form.get('client_id') ?? basicUser(req);
      const claims = claimsOf(flow?.nonce ?? null, clientId);
      const answer: Record<string, unknown> = {
        access_token: `provider-access-${randomBytes(9).toString('hex')}`,
        refresh_token: `provider-refresh-${randomBytes(9).toString('hex')}`,
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'openid email',
        id_token: idToken(claims),
        ...state.lies.tokens,
      };
      subjects.set(String(answer.access_token), claims.sub);
      json(res, answer, state.lies.tokenStatus);
    },
    userinfo: (req, res) => {
      state.resourceRequests.push(req);
      const sub = subjects.get(String(req.headers.authorization).replace('Bearer ', ''));
      json(res, { sub, email: 'ada@example.com', email_verified: true, ...state.lies.userinfo });
    },
    async revoke(req, res) {
      const body = await text(req);
      const { method, url = '', headers } = req;
      const { authorization } = headers;
      state.revocations.push({ method, url, authorization, body, form: new URLSearchParams(body) });
      json(res, {});
    },
    emails: (req, res) => {
      state.resourceRequests.push(req);
      json(res, state.lies.emails ?? []);
    },
  };
  server.on('request', (req, res) => {
    const path = new URL(req.url ?? '', issuer).pathname.slice(1);
    const name = (ALIASES[path] ?? path) as keyof typeof endpoints;
    const answer = (name !== 'authorize' && state.lies.answers?.[name]) || endpoints[name];
    if (answer) answer(req, res);
    else res.writeHead(404).end();
  });
  return state;
}

/** Responses that a client must be able to handle. */
export const answers = {
  html: (_req: IncomingMessage, res: ServerResponse) =>
    void res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works!</h1>'),
  hang: () => {},
  /** Sends one byte at a time: the response never ends, and the connection is never idle. */
  drip(_req: IncomingMessage, res: ServerResponse) {
    res.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => res.write(' '), 100);
    res.on('close', () => clearInterval(timer));
  },
  failure: (_req: IncomingMessage, res: ServerResponse) => json(res, { error: 'server_error' }, 500),
  redirect: (target: string) => (_req: IncomingMessage, res: ServerResponse) =>
    void res.writeHead(307, { location: target }).end(),
  /** A JSON response of 150 MB, sent as fast as the client reads it. */
  huge(_req: IncomingMessage, res: ServerResponse) {
    res.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    let left = 150;
    res.write('{"access_token":"');
    const more = () => {
      while (left > 0 && !res.destroyed) {
        left--;
        if (!res.write(chunk)) return;
      }
      if (left === 0) res.end('"}');
    };
    res.on('drain', more);
    more();
  },
} satisfies Record<string, Answer | ((target: string) => Answer)>;

function json(res: ServerResponse, body: unknown, status = 200): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The user name of a request with HTTP Basic authentication. */
function basicUser({ headers }: IncomingMessage): string {
  const [user = ''] = Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64')
    .toString()
    .split(':');
  return decodeURIComponent(user);
}

function algorithmOf({ asymmetricKeyType }: KeyObject): string {
  return asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256';
}

function jwt(header: { alg: string; kid?: string }, claims: object, key: KeyObject): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode(header)}.${encode({ ...claims })}`;
  if (header.alg === 'none') return `${signed}.`;
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
