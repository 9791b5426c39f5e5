import type { Response } from 'express';
import type { PlainRequest } from '../context/call.js';
import type { Core } from '../core/core.js';
import { wereJustReplaced } from '../core/replaced-tokens.js';
import { clearSessionCookie } from './respond.js';

/**
 * Clears a session cookie that opens nothing, unless its token was replaced a moment ago: the browser may have the new
 * cookie already, and would lose it.
 */
export async function clearDeadCookie(core: Core, req: PlainRequest, res: Response): Promise<void> {
  if (await wereJustReplaced(core.database, core.sessionTokens(req))) return;
  beforeHeaders(res, (status) => {
    const { name } = core.settings.cookie;
    const cookies = [res.getHeader('set-cookie') ?? []].flat();
    // A sign-in may have set a new cookie, and an outage (503) is never a sign-out.
    if (status === 503 || cookies.some((cookie) => String(cookie).startsWith(`${name}=`))) return;
    clearSessionCookie(core, res);
    // A cache must not clear the cookies of other visitors with this response.
    res.setHeader('Cache-Control', 'no-store');
  });
}

/** Calls `act` with the status just before the headers of a response are sent. */
function beforeHeaders(res: Response, act: (status: number) => void): void {
  const writeHead = res.writeHead.bind(res) as (status: number, ...rest: unknown[]) => Response;
  res.writeHead = (status: number, ...rest: unknown[]) => {
    if (!res.headersSent) act(status);
    return writeHead(status, ...rest);
  };
}
