/** What the server answers when it refuses (RFC 9457): `detail` and `errors` are written for people. */
export class Problem extends Error {
  constructor({
    status = 0,
    code = '',
    detail = 'The app gave an answer that this page does not understand.',
    errors = [],
  }) {
    super(detail);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }

  /** Whether the session has ended, or there was none. A wrong password is a 401 too, and no reason to sign in anew. */
  get isSignedOut() {
    return this.code === 'unauthenticated' || this.code === 'invalid_session';
  }
}

/** Calls a JSON route. The browser sends the session's cookie by itself. */
export async function call(method, path, body) {
  const response = await send(method, path, body);
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer;
  if (response.status === 429) throw new Problem({ ...answer, detail: tooOften(response) });
  throw new Problem({ status: response.status, ...answer });
}

async function send(method, path, body) {
  // Without it, a route that can redirect a browser would.
  const headers = { Accept: 'application/json' };
  if (body) headers['Content-Type'] = 'application/json';
  try {
    return await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  } catch {
    throw new Problem({ detail: 'The app cannot be reached. Is it running?' });
  }
}

/** The server says when it will listen again, and means it: an earlier try is in vain. */
function tooOften({ headers }) {
  const seconds = Number(headers.get('Retry-After')) || 60;
  const time =
    seconds < 120 ? `${seconds} second${seconds === 1 ? '' : 's'}` : `${Math.ceil(seconds / 60)} minutes`;
  return `Too many attempts. Try again in ${time}.`;
}
