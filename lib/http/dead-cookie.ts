import type { Response } from 'express';
import type { PlainRequest } from '../context/call.js';
import type { Core } from '../core/core.js';
import { wereJustReplaced } from '../sessions/replaced-tokens.js';
import { beforeHeaders, setsCookie } from './before-headers.js';
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
    // A sign-in may have set a new cookie, and an outage (503) is never a sign-out.
    if (status === 503 || setsCookie(res, core.settings.cookie.name)) return;
    clearSessionCookie(core, res);
    // A cache must not clear the cookies of other visitors with this response.
    res.setHeader('Cache-Control', 'no-store');
  });
}
