import type { Response } from 'express';
import type { PlainRequest } from '../context/call.js';
import type { Core } from '../core/core.js';
import { wereJustReplaced } from '../core/replaced-tokens.js';
import { clearSessionCookie } from './respond.js';

// A browser that waits longer for a response, such as in long polling, may have signed in meanwhile.
const CLEAR_WITHIN_MS = 1000;

/**
 * Clears a session cookie that opens nothing, unless its token was replaced a moment ago, or the response comes late: the
 * browser may have a new cookie already, and would lose it.
 */
export async function clearDeadCookie(core: Core, req: PlainRequest, res: Response): Promise<void> {
  if (await wereJustReplaced(core.database, core.sessionTokens(req))) return;
  const checked = performance.now();
  beforeHeaders(res, (status) => {
    if (performance.now() - checked > CLEAR_WITHIN_MS) return;
    const { name } = core.settings.cookie;
    const cookies = [res.getHeader('set-cookie') ?? []].flat();
    // A sign-in may have set a new cookie, and an outage (503) is never a sign-out.
    if (status === 503 || cookies.some((cookie) => String(cookie).startsWith(`${name}=`))) return;
    clearSessionCookie(core, res);
    // A cache must not clear the cookies of other visitors with this response.
    res.setHeader('Cache-Control', 'no-store');
  });
}

/** Calls `act` with the status just before the headers of a response are sent, when the app has set all of them. */
function beforeHeaders(res: Response, act: (status: number) => void): void {
  const writeHead = res.writeHead.bind(res) as (status: number, ...rest: unknown[]) => Response;
  res.writeHead = (status: number, ...rest: unknown[]) => {
    if (res.headersSent) return writeHead(status, ...rest);
    // Passed on, they would replace what `act` sets, such as its Cache-Control.
    const headers = pairsOf(rest.find((one) => typeof one === 'object'));
    for (const [name] of headers) res.removeHeader(name);
    for (const [name, value] of headers) res.appendHeader(name, value);
    act(status);
    return writeHead(status, ...rest.filter((one) => typeof one === 'string'));
  };
}

type Header = readonly [name: string, value: string | readonly string[]];

/** The headers that `writeHead` was given: an object, a list of pairs, or a list of names and values in turns. */
function pairsOf(headers: unknown): readonly Header[] {
  if (!Array.isArray(headers)) return Object.entries(headers ?? {});
  if (Array.isArray(headers[0])) return headers;
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]]] : []));
}
