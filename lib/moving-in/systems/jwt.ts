import { createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { types } from 'node:util';
import type { JWTPayload, JWTVerifyOptions } from 'jose';
import * as z from 'zod';
import type { BearerScheme } from '../../config/config.js';
import { isLoopback, readOptions, schemaOf } from '../../config/options.js';
import { boundedFetch } from '../../context/bounded-fetch.js';
import { loadEsModule } from '../../context/es-module.js';
import { once } from '../../context/once.js';
import type { OldToken, TokenBridge } from '../bridge.js';
import { type FoundUser, userFunction, userOf } from './bridge-options.js';

/** The algorithms that {@link jwtSessions} verifies (RFC 7518, RFC 8037, RFC 9864). */
export type JwtAlgorithm =
  | 'HS256'
  | 'HS384'
  | 'HS512'
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'Ed25519';

/**
 * The keys of {@link jwtSessions}: a secret, a public key in PEM, a list of several of these, a JWK set, or the URL of
 * a JWK set.
 */
export type JwtKeys =
  | string
  | Uint8Array
  | URL
  | { readonly keys: readonly object[] }
  | readonly (string | Uint8Array)[];

/** The claims of a token whose signature and times are valid (RFC 7519). */
export interface JwtClaims {
  /** When the token expires, in seconds since 1970. */
  readonly exp: number;
  /** When the token was issued, in seconds since 1970. */
  readonly iat?: number;
  /** The user, in most systems. */
  readonly sub?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the previous system has chosen them
  readonly [name: string]: any;
}

/** Options of {@link jwtSessions}. */
export interface JwtSessionsOptions {
  /**
   * The secret that signs the tokens, or the public key in PEM that verifies them; a list of several, if the key was
   * changed; a JWK set; or the URL of a JWK set, which must be https or on this machine.
   * @default none, required
   */
  keys: JwtKeys | undefined;
  /**
   * The algorithms of the tokens. Tokens with any other algorithm in their header are invalid.
   * @default none, required
   */
  algorithms: readonly JwtAlgorithm[];
  /** The scheme that clients use to send the tokens in the header `Authorization`. @default 'Bearer' */
  scheme?: BearerScheme | undefined;
  /**
   * Returns the account of a token: its id, or with `user.model` the primary key of its row, or
   * `{ id, email, emailVerified }`. Return null for a token with another purpose, such as a refresh token or the token
   * of an emailed link, which must not sign anyone in.
   * @default none, required
   */
  userId: (claims: JwtClaims) => FoundUser | Promise<FoundUser>;
  /** The time from which the tokens are no longer accepted. @default none, required */
  until: Date;
}

const ALGORITHMS = [
  ...(['HS256', 'HS384', 'HS512'] as const),
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
];
const SECRET_ALGORITHMS: readonly JwtAlgorithm[] = ['HS256', 'HS384', 'HS512'];
const RSA_ALGORITHMS: readonly JwtAlgorithm[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
/** The algorithm of each elliptic curve. */
const CURVES: Readonly<Record<string, JwtAlgorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};
/** The length of the two numbers of an ECDSA signature in bytes, and the order of the curve (FIPS 186-5). */
const ECDSA: Readonly<Record<string, { readonly bytes: number; readonly order: bigint }>> = {
  ES256: { bytes: 32, order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n },
  ES384: {
    bytes: 48,
    order:
      0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  },
  ES512: {
    bytes: 66,
    order:
      0x1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
  },
};

// RFC 7518, 3.3 and 3.5.
const MIN_RSA_BITS = 2048;
/** Longer tokens are not verified. All headers of a request together can have 16 KiB. */
const MAX_LENGTH = 8192;
/** How far the clock of the previous system can be ahead, for `nbf` and `iat`. */
const TOLERANCE_SECONDS = 30;
// The end of the year 9999, which every database can store.
const MAX_SECONDS = 253_402_300_799;
const FETCH_MS = 2500;
const MAX_CANDIDATES = 8;

const WHAT_KEYS =
  'must be a secret, a public key in PEM, a list of these, a JWK set, or the URL of a JWK set (https, or http on localhost)';

/** A key, and the algorithms that it can verify. */
interface LocalKey {
  readonly key: KeyObject;
  readonly algorithms: readonly JwtAlgorithm[];
  readonly kid: string | undefined;
}

type Keys = readonly LocalKey[] | URL;

/** @internal */
export const schema = () =>
  schemaOf<JwtSessionsOptions>()({
    keys: z
      .custom<JwtKeys>((given) => given !== undefined, WHAT_KEYS)
      .transform((given, context): Keys => {
        try {
          return keysOf(given);
        } catch (error) {
          context.addIssue({ code: 'custom', message: (error as Error).message });
          return z.NEVER;
        }
      }),
    algorithms: z
      .array(z.enum(ALGORITHMS, `must be one of ${ALGORITHMS.join(', ')}`), 'must be a list of algorithms')
      .min(1, 'must name at least one algorithm'),
    scheme: z.enum(['Bearer', 'Token'], "must be 'Bearer' or 'Token'").default('Bearer'),
    userId: userFunction<[claims: JwtClaims]>(),
    until: z
      .date('must be a Date, by which the tokens have expired')
      .refine((it) => !Number.isNaN(it.getTime()), 'is not a valid Date'),
  });

/**
 * Takes over tokens that an app has signed itself (JSON Web Tokens, RFC 7519), for clients that cannot be changed
 * immediately. Each token represents one session, which is created when the token is first seen. The session ends when
 * the token expires, when the user signs out, or when the session is revoked, alone or with all sessions of the user. A
 * token without `exp` is invalid.
 *
 * @example
 * createAuth({
 *   database: sequelize,
 *   secret: process.env.AUTH_SECRET,
 *   bridges: [
 *     jwtSessions({
 *       keys: process.env.JWT_SECRET,
 *       algorithms: ['HS256'],
 *       userId: (claims) => (claims.typ === 'access' ? claims.sub : null),
 *       until: new Date('2027-03-01'),
 *     }),
 *   ],
 * });
 *
 * @throws TypeError naming every mistake in the options
 */
export function jwtSessions(options: JwtSessionsOptions): TokenBridge {
  const { keys, algorithms, scheme, userId, until } = readOptions('jwtSessions', schema, options);
  const mistake = mismatch(keys, algorithms);
  if (mistake) throw new TypeError(`latchkey: jwtSessions: ${mistake}`);
  const verifier = verifierOf(keys, algorithms);
  return {
    name: 'jwt',
    until,
    scheme,
    accepts: (token) => SHAPE.test(token),
    idIn(token) {
      const algorithm = token.length <= MAX_LENGTH ? headerOf(token)?.alg : undefined;
      return isOneOf(algorithms, algorithm) ? canonical(token, algorithm) : null;
    },
    async find(token, now): Promise<OldToken | null> {
      const claims = await verifier(token, now);
      const user = claims && userOf(await userId(claims), 'jwtSessions');
      if (!claims || !user) return null;
      const issuedAt = claims.iat === undefined ? null : timeOf(claims.iat);
      return { user, beganAt: issuedAt, issuedAt, endsAt: timeOf(claims.exp), remembered: true };
    },
  };
}

function timeOf(seconds: number): Date {
  return new Date(Math.min(Math.max(seconds, 0), MAX_SECONDS) * 1000);
}

// A signed token in the compact form (RFC 7515, 7.1).
const SHAPE = /^[\w-]+\.[\w-]+\.[\w-]+$/;

interface Header {
  readonly alg?: unknown;
  readonly kid?: unknown;
}

/** Returns the header of a token before anything is verified. */
function headerOf(token: string): Header | null {
  try {
    const header: unknown = JSON.parse(
      Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString(),
    );
    return typeof header === 'object' ? header : null;
  } catch {
    return null;
  }
}

function isOneOf(algorithms: readonly JwtAlgorithm[], algorithm: unknown): algorithm is JwtAlgorithm {
  return algorithms.some((one) => one === algorithm);
}

/**
 * Returns a token in the only form that has the same header, claims and signature, so that a token whose session has
 * ended cannot be used again in another form. The signature covers the text of the header and claims, but not its own
 * text: the last character has bits that decoders ignore, and for an ECDSA signature (r, s), (r, -s) is also valid.
 *
 * @returns null if the signature is not in its usual form
 */
function canonical(token: string, algorithm: JwtAlgorithm): string | null {
  const dot = token.lastIndexOf('.') + 1;
  const given = token.slice(dot);
  const signature = Buffer.from(given, 'base64url');
  if (signature.toString('base64url') !== given) return null;
  const { bytes, order } = ECDSA[algorithm] ?? {};
  if (bytes === undefined || order === undefined) return token;
  if (signature.length !== 2 * bytes) return null;
  const s = BigInt(`0x${signature.subarray(bytes).toString('hex')}`);
  const other = order - s;
  const smaller = (other < s ? other : s).toString(16);
  return `${token.slice(0, dot)}${signature.subarray(0, bytes).toString('hex')}.${smaller}`;
}

type Jose = typeof import('jose');
type Verify = (token: string, now: Date) => Promise<JwtClaims | null>;
type Key = Parameters<Jose['jwtVerify']>[1];

const loadJose = once(() => loadEsModule('jose', () => import('jose')));

/** Returns a function that verifies a token, and returns its claims, or null if the token is invalid. */
function verifierOf(keys: Keys, algorithms: readonly JwtAlgorithm[]): Verify {
  const fixed: JWTVerifyOptions = {
    algorithms: [...algorithms],
    requiredClaims: ['exp'],
    clockTolerance: TOLERANCE_SECONDS,
  };
  const candidates = keys instanceof URL ? remote(keys) : local(keys);
  return async (token, now) => {
    const jose = await loadJose();
    for (const key of await candidates(jose, token)) {
      const options = { ...fixed, currentDate: now };
      const claims = await outcomeOf(() => jose.jwtVerify(token, key as never, options));
      if (claims) return isIssued(claims.payload, now) ? (claims.payload as JwtClaims) : null;
    }
    return null;
  };
}

/**
 * Whether a token was issued by now. One from the future would outlive the end of all sessions of its user, which ends
 * the tokens that were issued before.
 */
function isIssued({ iat }: JWTPayload, now: Date): boolean {
  return iat === undefined || iat <= now.getTime() / 1000 + TOLERANCE_SECONDS;
}

/** Returns the keys of the config that can have signed a token. */
function local(keys: readonly LocalKey[]) {
  return async (_jose: Jose, token: string): Promise<readonly Key[]> => {
    const { alg, kid } = headerOf(token) ?? {};
    const fitting = keys.filter(({ algorithms }) => isOneOf(algorithms, alg));
    const named = fitting.filter((one) => one.kid !== undefined && one.kid === kid);
    const unnamed = fitting.filter((one) => one.kid === undefined || kid === undefined);
    return (named.length > 0 ? named : unnamed).map(({ key }) => key);
  };
}

/** Returns the keys at a URL that can have signed a token. They are cached for ten minutes. */
function remote(url: URL) {
  let set: ReturnType<Jose['createRemoteJWKSet']> | undefined;
  return async (jose: Jose, token: string): Promise<readonly Key[]> => {
    set ??= jose.createRemoteJWKSet(url, {
      timeoutDuration: FETCH_MS,
      [jose.customFetch]: (href, options) => boundedFetch(options.signal)(href, options),
    });
    try {
      return [await set(jose.decodeProtectedHeader(token) as never)];
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === 'ERR_JWKS_MULTIPLE_MATCHING_KEYS') return several(error as AsyncIterable<Key>);
      if (code === 'ERR_JWKS_NO_MATCHING_KEY') return [];
      throw error;
    }
  };
}

async function several(keys: AsyncIterable<Key>): Promise<Key[]> {
  const found: Key[] = [];
  for await (const key of keys) if (found.push(key) >= MAX_CANDIDATES) break;
  return found;
}

const INVALID = /^ERR_(JWT_|JWS_|JOSE_(ALG_NOT_ALLOWED|NOT_SUPPORTED)$)/;

/** Null if a token is not valid. @throws any other error */
async function outcomeOf<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch (error) {
    if (INVALID.test(String((error as { code?: unknown }).code))) return null;
    throw error;
  }
}

/** @throws Error whose message follows the name of the option */
function keysOf(given: JwtKeys): Keys {
  if (given instanceof URL) return checkedUrl(given);
  if (typeof given === 'string' && /^https?:\/\//i.test(given)) {
    if (!URL.canParse(given)) throw new Error(WHAT_KEYS);
    return checkedUrl(new URL(given));
  }
  if (typeof given === 'string' || types.isUint8Array(given)) return [keyOf(given)];
  if (Array.isArray(given) && given.length > 0) return given.map(keyOf);
  const keys = (given as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys)) throw new Error(WHAT_KEYS);
  return keys.flatMap(keyOfJwk);
}

function checkedUrl(url: URL): URL {
  const { protocol, hostname, username, password } = url;
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) throw new Error(WHAT_KEYS);
  if (username !== '' || password !== '') throw new Error('must not contain a username or password');
  return url;
}

/** Reads a secret, or a public key in PEM. */
function keyOf(given: unknown): LocalKey {
  if (typeof given !== 'string' && !types.isUint8Array(given)) throw new Error(WHAT_KEYS);
  const bytes = Buffer.from(given);
  if (bytes.length === 0) throw new Error('must not be empty');
  const text = bytes.toString('utf8');
  // A public key that was read from a file is not a secret.
  if (!/-----BEGIN /.test(text))
    return { key: createSecretKey(bytes), algorithms: SECRET_ALGORITHMS, kid: undefined };
  try {
    const key = createPublicKey(text);
    return { key, algorithms: algorithmsOf(key), kid: undefined };
  } catch {
    throw new Error('contains a key in PEM that cannot be read: check its line breaks');
  }
}

/** Reads a key of a JWK set. Returns no key if it is for another purpose, or of an unknown kind. */
function keyOfJwk(given: unknown): LocalKey[] {
  const jwk = (given ?? {}) as JsonWebKey;
  const { kid, use, alg } = jwk as Readonly<Record<string, unknown>>;
  if (use !== undefined && use !== 'sig') return [];
  try {
    const isSecret = jwk.kty === 'oct' && typeof jwk.k === 'string';
    const key = isSecret
      ? createSecretKey(jwk.k as string, 'base64url')
      : createPublicKey({ key: jwk, format: 'jwk' });
    const algorithms = algorithmsOf(key).filter((one) => alg === undefined || alg === one);
    return [{ key, algorithms, kid: typeof kid === 'string' ? kid : undefined }];
  } catch {
    return [];
  }
}

function algorithmsOf({ type, asymmetricKeyType, asymmetricKeyDetails }: KeyObject): readonly JwtAlgorithm[] {
  if (type === 'secret') return SECRET_ALGORITHMS;
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa') return modulusLength >= MIN_RSA_BITS ? RSA_ALGORITHMS : [];
  if (asymmetricKeyType === 'ed25519') return ['EdDSA', 'Ed25519'];
  return CURVES[namedCurve] ? [CURVES[namedCurve]] : [];
}

/** Returns the mistake in the options if an algorithm has no key. */
function mismatch(keys: Keys, algorithms: readonly JwtAlgorithm[]): string | null {
  if (keys instanceof URL) {
    const secret = algorithms.find((one) => SECRET_ALGORITHMS.includes(one));
    if (!secret) return null;
    return `algorithms contains ${secret}, which requires a secret, but keys is a URL, where a secret would be public: remove ${secret}`;
  }
  const without = algorithms.find((one) => !keys.some((key) => key.algorithms.includes(one)));
  if (without)
    return `algorithms contains ${without}, but keys has no key for it: HS256 to HS512 require a secret, RS and PS an RSA key of at least ${MIN_RSA_BITS} bits, ES256, ES384 and ES512 a key on P-256, P-384 and P-521, and EdDSA an Ed25519 key`;
  return null;
}
