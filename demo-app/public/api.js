/** An error response of the server (RFC 9457): `detail` and `errors` are written for people. */
export class Problem extends Error {
  constructor({
    status = 0,
    code = '',
    detail = 'The app sent a response that this page does not understand.',
    errors = [],
  }) {
    super(detail);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }

  /** Whether the session has ended or is missing. A wrong password is a 401 too, but needs no new sign-in. */
  get isSignedOut() {
    return this.code === 'unauthenticated' || this.code === 'invalid_session';
  }
}

/** Calls a JSON route. The browser sends the session cookie automatically. */
export async function call(method, path, body) {
  const response = await send(method, path, body);
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer;
  if (response.status === 429) throw new Problem({ ...answer, detail: tooOften(response) });
  throw new Problem({ status: response.status, ...answer });
}

async function send(method, path, body) {
  // Without this header, routes that can redirect would redirect instead of returning JSON.
  const headers = { Accept: 'application/json' };
  if (body) headers['Content-Type'] = 'application/json';
  try {
    return await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  } catch {
    throw new Problem({ detail: 'The app cannot be reached. Check that it is running.' });
  }
}

/** The message for a 429. The server rejects all attempts before the time in `Retry-After`. */
function tooOften({ headers }) {
  const seconds = Number(headers.get('Retry-After')) || 60;
  const time =
    seconds < 120 ? `${seconds} second${seconds === 1 ? '' : 's'}` : `${Math.ceil(seconds / 60)} minutes`;
  return `Too many attempts. Try again in ${time}.`;
}
