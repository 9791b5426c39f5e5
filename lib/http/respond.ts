import type { ServerResponse } from 'node:http';
import { serialize } from 'cookie';
import type { Response } from 'express';
import type { CookieSettings } from '../config/session.js';
import type { Core } from '../core/core.js';
import { isActing } from '../sessions/acting.js';
import { cookieValues, namesDevice } from '../sessions/carriers.js';
import { DEVICE_SECONDS } from '../sessions/device-rules.js';
import { type IssuedSession, isPending, type SignedIn } from '../sessions/signed-in.js';
import type { Reply, Route, Waiting } from './route.js';

/** Calls `act` with the status just before the headers of a response are sent, after the app has set all of them. */
export function beforeHeaders(res: ServerResponse, act: (status: number) => void): void {
  const writeHead = res.writeHead.bind(res) as (status: number, ...rest: unknown[]) => ServerResponse;
  res.writeHead = (status: number, ...rest: unknown[]) => {
    if (res.headersSent) return writeHead(status, ...rest) as never;
    // If these headers were passed on, they would replace the headers that `act` sets, such as Cache-Control.
    const headers = pairsOf(rest.find((one) => typeof one === 'object'));
    for (const [name] of headers) res.removeHeader(name);
    for (const [name, value] of headers) res.appendHeader(name, value);
    act(status);
    return writeHead(status, ...rest.filter((one) => typeof one === 'string')) as never;
  };
}

/** Whether a response sets or clears a cookie. */
export function setsCookie(res: ServerResponse, name: string): boolean {
  return [res.getHeader('set-cookie') ?? []].flat().some((cookie) => String(cookie).startsWith(`${name}=`));
}

type Header = readonly [name: string, value: string | readonly string[]];

/** Reads the headers passed to `writeHead`: an object, a list of pairs, or a list of alternating names and values. */
function pairsOf(headers: unknown): readonly Header[] {
  if (!Array.isArray(headers)) return Object.entries(headers ?? {});
  if (Array.isArray(headers[0])) return headers;
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]]] : []));
}

/** Returns the value of `Content-Disposition` that makes a browser save the body (RFC 6266). */
export function attachment(file: string): string {
  return `attachment; filename="${file}"`;
}

/** Sends a handler's reply, limited to the fields that the route declares. */
export function respond(core: Core, route: Route, reply: Reply, res: Response): void {
  const { schema, file } = route.answers[reply.status] ?? {};
  // Check the body before setting headers, so that no cookie is set if the body does not match the schema. A file is
  // indented, because people read it.
  const body =
    reply.cacheable?.json ?? (schema && JSON.stringify(schema.parse(reply.body), null, file ? 2 : 0));
  setReplyCookies(core, reply, res);
  for (const [name, value] of Object.entries(reply.headers ?? {})) res.appendHeader(name, value);
  if (reply.error)
    core.pages?.leaveError(reply.error, String(reply.headers?.Location), res, reply.email ?? null);
  res.statusCode = reply.status;
  if (file) res.setHeader('Content-Disposition', attachment(file));
  if (reply.cacheable) {
    res.setHeader('Cache-Control', 'no-cache');
    res.setHeader('ETag', reply.cacheable.etag);
    // Express compares the ETag with If-None-Match.
    if (res.req.fresh) res.statusCode = 304;
  }
  if (body === undefined || res.statusCode === 304) {
    res.end();
    return;
  }
  // res.json() would add an ETag and could respond with 304, although the response must not be cached.
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.end(body);
}

/** Sets and clears the cookies of a handler's reply. */
export function setReplyCookies(core: Core, reply: Reply, res: Response): void {
  if (reply.issue) issueSession(core, reply.issue, res);
  if (reply.pending) setPendingCookie(core, reply.pending, res);
  if (reply.device) setDeviceCookie(core, reply.device, res);
  if (reply.clearCookie) clearSessionCookie(core, res);
  for (const cookie of reply.clears ?? []) clearCookie(res, cookie);
}

/** Makes the browser delete the session cookie. */
export function clearSessionCookie(core: Core, res: ServerResponse): void {
  clearCookie(res, core.settings.cookie);
}

/** Makes the browser delete the cookie of a pending sign-in. */
export function clearPendingCookie(core: Core, res: ServerResponse): void {
  clearCookie(res, core.settings.pendingCookie);
}

/**
 * Sends a new session to the client, as a cookie and, with `bearerEnabled`, as a header. Sends a pending sign-in as a
 * cookie that expires with it.
 */
export function issueSession(core: Core, issued: SignedIn, res: ServerResponse): void {
  if (isPending(issued)) {
    setPendingCookie(core, issued.secondFactor, res);
    return;
  }
  // A completed sign-in replaces a pending one, whichever method was used.
  if (carriesPending(core, res)) clearPendingCookie(core, res);
  const { token, device } = issued;
  setSessionCookie(core, issued, res);
  if (device !== null) setDeviceCookie(core, device, res);
  // An acting session is accepted from the cookie only.
  if (core.settings.bearerEnabled && !isActing(issued.session)) {
    res.setHeader('Set-Auth-Token', token);
    res.appendHeader('Access-Control-Expose-Headers', 'Set-Auth-Token');
  }
}

/** Sends the token of something that waits as a cookie that expires with it. */
function setPendingCookie(
  core: Core,
  { pendingToken, expiresAt, cookie }: Waiting,
  res: ServerResponse,
): void {
  setCookie(res, cookie ?? core.settings.pendingCookie, pendingToken, { expires: expiresAt });
}

/** Sets the device cookie, unless the client names its device in a header. */
function setDeviceCookie(core: Core, device: string, res: ServerResponse): void {
  if (namesDevice(core.carriers, res.req)) return;
  setCookie(res, core.settings.deviceCookie, device, { maxAge: DEVICE_SECONDS });
}

/** Sets the session cookie. */
export function setSessionCookie(
  core: Core,
  { token, session, remembered }: Pick<IssuedSession, 'token' | 'session' | 'remembered'>,
  res: ServerResponse,
): void {
  const { expiresAt, lastActiveAt } = session;
  const maxAge = Math.floor((expiresAt.getTime() - lastActiveAt.getTime()) / 1000);
  // Without a lifetime, the cookie is deleted when the browser closes. The server enforces the session's end.
  setCookie(res, core.settings.cookie, token, remembered ? { maxAge, expires: expiresAt } : {});
}

function carriesPending({ settings }: Core, { req }: Partial<ServerResponse>): boolean {
  return cookieValues(req?.headers.cookie, settings.pendingCookie.name).length > 0;
}

/** Makes the browser delete a cookie. */
export function clearCookie(res: ServerResponse, cookie: CookieSettings): void {
  setCookie(res, cookie, '', { expires: new Date(0) });
}

/** Sets a cookie that no script can read. The browser deletes cookies of the same purpose at a former domain or path. */
export function setCookie(
  res: ServerResponse,
  { name, former = [], ...attributes }: CookieSettings,
  value: string,
  life: { maxAge?: number; expires?: Date },
): void {
  for (const one of former) clearCookie(res, one);
  res.appendHeader('Set-Cookie', serialize(name, value, { ...attributes, httpOnly: true, ...life }));
}
