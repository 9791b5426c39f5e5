import type { BearerScheme, Settings } from '../config/config.js';
import { type PlainRequest, UNTOUCHED } from '../context/call.js';
import { isActingToken, isSessionToken } from '../crypto/token.js';
import { AuthError } from '../errors.js';
import { isAboutMissingRow } from '../users/rows.js';
import { ALONGSIDE } from './lookup.js';
import {
  type Authentication,
  type Carrier,
  declareVia,
  isSession,
  type SessionAuthentication,
} from './request.js';
import type { Sessions, SessionWithUser } from './sessions.js';

/** What {@link ownCarriers} need. */
interface CarrierNeeds {
  readonly sessions: Sessions;
  readonly settings: Settings;
}

/** Creates the carriers of the core, in the order in which they are tried. */
export function ownCarriers({ sessions, settings }: CarrierNeeds): Carrier[] {
  const { bearerEnabled, bearerSchemes } = settings;
  return [
    ...(bearerEnabled ? [bearerCarrier(sessions, bearerSchemes)] : []),
    cookieCarrier(sessions, settings),
  ];
}

/** Creates the carrier of sessions in a cookie. Browsers also have a device cookie. */
function cookieCarrier(sessions: Sessions, { cookie, deviceCookie, log }: Settings): Carrier {
  const { name } = cookie;
  return {
    via: 'cookie',
    presentsSession: true,
    securityScheme: { type: 'apiKey', in: 'cookie', name },
    challenge: `Cookie realm="latchkey", cookie-name="${name}"`,
    authenticate(request) {
      const tokens = cookieValues(request.headers.cookie, name);
      const [token] = tokens;
      if (token === undefined) return null;
      if (tokens.length === 1) return authenticationBy(sessions, token, 'cookie', request);
      log.warn('cookie.several', severalCookies(name), { cause: name });
      return authenticationByOneOf(sessions, tokens, request);
    },
    sessionTokens({ headers }) {
      const values = cookieValues(headers.cookie, name);
      // Values that cannot be tokens must not displace one, because only a few are looked up.
      const tokens = values.filter(isSessionToken);
      return tokens.length > 0 ? tokens : values;
    },
    deviceTokens: ({ headers }) => cookieValues(headers.cookie, deviceCookie.name),
  };
}

/**
 * The maximum number of session tokens that are looked up for a request. A browser sends one, or several if the cookie
 * had another domain or path before, or if another subdomain has set a cookie with the same name.
 */
export const MAX_PRESENTED_SESSIONS = 4;

function severalCookies(name: string): string {
  return (
    `a request has several cookies ${name} with different values, and is accepted only if exactly one of them is of an active session. ` +
    'If session.cookie.domain or path has changed, add the former values to session.cookie.former. Otherwise another subdomain sets the cookie'
  );
}

/**
 * Authenticates by the only active session among the values of several cookies.
 *
 * @throws AuthError `invalid_session` if there is none, or if there are several: see {@link isAmbiguous}
 */
async function authenticationByOneOf(
  sessions: Sessions,
  values: readonly string[],
  request: PlainRequest,
): Promise<SessionAuthentication> {
  const tokens = values.filter(isSessionToken);
  if (tokens.length > MAX_PRESENTED_SESSIONS) throw ambiguous();
  // The lookups share a statement.
  const all = await Promise.all(tokens.map((token) => findFor(request, sessions, token)));
  const [found, ...others] = all.filter((one) => one !== null);
  if (others.length > 0) throw ambiguous();
  if (!found) throw new AuthError('invalid_session');
  return authenticationOf(found, 'cookie');
}

const AMBIGUOUS = new Error('the request has several cookies with active sessions');

function ambiguous(): AuthError {
  return new AuthError('invalid_session', { cause: AMBIGUOUS });
}

/**
 * Whether a request was rejected because several of its cookies have active sessions. Another subdomain can have set one of
 * them ("cookie tossing"), and they are indistinguishable. A sign-in ends all of them.
 */
export function isAmbiguous(error: AuthError): boolean {
  return error.cause === AMBIGUOUS;
}

/**
 * Returns the distinct values of a cookie. They are read from the header itself, because cookie parsers, including
 * `req.cookies`, drop duplicates and convert some values to objects.
 */
export function cookieValues(header: string | undefined, name: string): string[] {
  const values: string[] = [];
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (equals <= 0 || trimWhitespace(pair.slice(0, equals)) !== name) continue;
    const value = trimWhitespace(pair.slice(equals + 1));
    if (!values.includes(value)) values.push(value);
  }
  // Some clients send a cleared cookie with an empty value.
  return values.length === 1 && values[0] === '' ? [] : values;
}

// Match the scheme as a whole token (RFC 9110, 5.6.2).
const SCHEMES: Readonly<Record<BearerScheme, RegExp>> = {
  Bearer: /^bearer(?![\w!#$%&'*+.^`|~-])/i,
  Token: /^token(?![\w!#$%&'*+.^`|~-])/i,
};

declareVia('bearer', 'set bearerEnabled: true');

/** Creates the carrier of sessions in `Authorization: Bearer <session token>` (RFC 6750). */
function bearerCarrier(sessions: Sessions, schemes: readonly BearerScheme[]): Carrier {
  return {
    ...inAuthorization(schemes),
    authenticate(request) {
      const token = tokenIn(request, schemes);
      return token === null ? null : authenticationBy(sessions, token, 'bearer', request);
    },
    sessionTokens: (request) => [tokenIn(request, schemes) ?? []].flat(),
    deviceInHeader: ({ headers }) => headers[DEVICE_HEADER]?.toString() ?? null,
  };
}

/** Describes a carrier of sessions in the header `Authorization`. */
export function inAuthorization(
  given: readonly BearerScheme[],
): Pick<Carrier, 'via' | 'presentsSession' | 'challenge' | 'securityScheme' | 'schemes'> {
  const schemes = (Object.keys(SCHEMES) as BearerScheme[]).filter((one) => given.includes(one));
  const [first = 'Bearer', ...others] = schemes;
  const description = others.map((other) => `Also accepted as \`Authorization: ${other}\`.`).join(' ');
  return {
    via: 'bearer',
    presentsSession: true,
    challenge: schemes.map((one) => `${one} realm="latchkey"`).join(', '),
    securityScheme: { type: 'http', scheme: first.toLowerCase(), ...(description && { description }) },
    schemes,
  };
}

/**
 * Joins the carriers of each kind, because a plugin can accept other tokens of the same kind. Of the carriers of a kind,
 * the first one that finds a credential decides.
 */
export function joinCarriers(carriers: readonly Carrier[]): Carrier[] {
  const ofKinds = new Map<Carrier['via'], Carrier>();
  for (const carrier of carriers) {
    const first = ofKinds.get(carrier.via);
    ofKinds.set(carrier.via, first ? joined(first, carrier) : carrier);
  }
  return [...ofKinds.values()];
}

function joined(first: Carrier, second: Carrier): Carrier {
  return {
    ...first,
    ...second,
    ...(first.schemes && second.schemes && inAuthorization([...first.schemes, ...second.schemes])),
    authenticate: (request) => first.authenticate(request) ?? second.authenticate(request),
    sessionTokens: (request) => [...first.sessionTokens(request), ...second.sessionTokens(request)],
  };
}

/** The header in which clients without cookies send their device token, or `new`. */
const DEVICE_HEADER = 'latchkey-device';

/** Whether a request names its device in a header. */
export function namesDevice(carriers: readonly Carrier[], request: PlainRequest | null): boolean {
  return request !== null && carriers.some((carrier) => (carrier.deviceInHeader?.(request) ?? null) !== null);
}

/** Returns the distinct device tokens that a request presents, valid or not. */
export function deviceTokensOf(carriers: readonly Carrier[], request: PlainRequest): readonly string[] {
  const named = carriers.flatMap((carrier) => carrier.deviceInHeader?.(request) ?? []);
  return named.length > 0 ? named : carriers.flatMap((carrier) => carrier.deviceTokens?.(request) ?? []);
}

/** Returns the credentials after one of these schemes. Null if the request has another scheme or none. */
export function tokenIn({ headers }: PlainRequest, schemes: readonly BearerScheme[]): string | null {
  const value = headers.authorization ?? '';
  const scheme = schemes.find((one) => SCHEMES[one].test(value));
  return scheme === undefined ? null : trimWhitespace(value.replace(SCHEMES[scheme], ''));
}

/**
 * Removes optional whitespace, which is only spaces and tabs (RFC 9110, 5.6.3; RFC 6265, 5.2). `trim()` also removes
 * other characters, such as no-break spaces. A cookie whose name starts with such a character is another cookie, which
 * anyone can set.
 */
export function trimWhitespace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhitespace(text[start])) start++;
  while (end > start && isWhitespace(text[end - 1])) end--;
  return text.slice(start, end);
}

function isWhitespace(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/**
 * Authenticates a request. The first carrier that finds a credential decides.
 *
 * @returns null if the request presents no credential
 * @throws AuthError if the credential is invalid
 */
export function authenticateWith(
  carriers: readonly Carrier[],
  request: PlainRequest,
): Promise<Authentication> | null {
  for (const carrier of carriers) {
    const authentication = carrier.authenticate(request);
    if (authentication) return authentication;
  }
  return null;
}

/**
 * Returns the active session that a request presents, if its user has begun it. Null if it presents no session, a session
 * that has ended, an acting session, or a session of an incomplete account.
 */
export async function sessionOf(
  carriers: readonly Carrier[],
  request: PlainRequest,
): Promise<SessionAuthentication | null> {
  try {
    const authentication = await authenticateWith(carriers, request);
    return authentication && isSession(authentication) && !authentication.actor ? authentication : null;
  } catch (error) {
    if ((error instanceof AuthError && error.status === 401) || isAboutMissingRow(error)) return null;
    throw error;
  }
}

/** Authenticates a request by a session's token. @throws AuthError `invalid_session` */
async function authenticationBy(
  sessions: Sessions,
  token: string,
  via: SessionAuthentication['via'],
  request: PlainRequest,
): Promise<SessionAuthentication> {
  // A program could keep an acting session's token, so only browsers can present it.
  const isAccepted = via === 'cookie' || !isActingToken(token);
  const found = isAccepted ? await findFor(request, sessions, token) : null;
  if (!found) throw new AuthError('invalid_session');
  return authenticationOf(found, via);
}

/** Finds the session with a token that a request presents. */
function findFor(request: PlainRequest, sessions: Sessions, token: string): Promise<SessionWithUser | null> {
  return sessions.find(token, !request[UNTOUCHED], request[ALONGSIDE]);
}

/** Returns the authentication by a session. */
export function authenticationOf(
  { user, session }: SessionWithUser,
  via: SessionAuthentication['via'],
): SessionAuthentication {
  const { actorId } = session;
  return { user, session, apiKey: null, via, actor: actorId ? { id: actorId } : null };
}
