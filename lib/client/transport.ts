import { throwIfAborted } from './abort.js';
import { type CallOptions, type ClientError, failed, type Result, report } from './result.js';

/** Where a client keeps its session token, in place of a cookie. */
export interface BearerStore {
  /** Returns the token, or null if there is none. */
  get(): string | null | Promise<string | null>;
  /** Keeps a new token, or deletes the kept token. */
  set(token: string | null): unknown;
}

/** @internal */
export interface TransportOptions {
  readonly baseUrl: string;
  readonly bearer: BearerStore | null;
  readonly fetch: typeof globalThis.fetch;
}

/** A route as the client calls it. @internal */
export interface Route {
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Whether it accepts a body or, with GET, query parameters. */
  readonly input?: boolean;
  /** What a successful call does to the session. If it starts one, the data gets a `step`. */
  readonly session?: 'starts' | 'changes' | 'ends';
}

/** Routes, by the methods and objects of the client. @internal */
export interface Routes {
  readonly [name: string]: Route | Routes;
}

/**
 * Calls a route. The input is ignored if the route accepts none.
 *
 * @param parameters those of the path
 * @param human the token of the human check
 * @internal
 */
export type Send = (
  route: Route,
  input?: unknown,
  options?: CallOptions,
  parameters?: unknown[],
  human?: string,
) => Promise<Result<unknown>>;

/** Creates the function that calls routes. @internal */
export function transport({ baseUrl, bearer, fetch }: TransportOptions): Send {
  return async ({ method, path, input: hasInput, session }, given, options, parameters = [], human) => {
    const signal = options?.signal;
    const starts = session === 'starts';
    let token: string | null = null;
    let isSent = false;
    let response: Response;
    let text: string;
    try {
      const filled = path.replace(/:\w+/g, () => encodeURIComponent(parameters.shift() as string));
      // An empty or dotted segment would lead to another route.
      if (/\/\.{0,2}(\/|$)/.test(filled)) return unexpected(0);
      const input = hasInput ? ((given ?? {}) as object) : null;
      const body = input && method !== 'GET' ? JSON.stringify(input) : null;
      const query = input && !body ? queryOf(input) : '';
      if (bearer) token = await bearer.get();
      isSent = true;
      response = await fetch(baseUrl + filled + query, {
        method,
        headers: {
          Accept: 'application/json',
          ...(body && { 'Content-Type': 'application/json' }),
          ...(token && { Authorization: `Bearer ${token}` }),
          ...(human && { 'Latchkey-Human': human }),
        },
        credentials: bearer ? 'omit' : 'include',
        body,
        signal: signal ?? null,
      });
      text = await response.text();
    } catch (error) {
      throwIfAborted(signal, error);
      return isSent
        ? failed(0, 'network', 'The server could not be reached. Try again later.')
        : unexpected(0);
    }
    const result = resultOf(response, text, starts);
    const next = response.headers.get('set-auth-token');
    const isOver = result.error ? result.error.code === 'invalid_session' : session === 'ends';
    try {
      // Unless this call starts a session, another user's token might have replaced its own in the meantime.
      if (bearer && (next || isOver) && (starts || (await bearer.get()) === token)) await bearer.set(next);
    } catch (error) {
      report(error);
    }
    return result;
  };
}

function queryOf(input: object): string {
  const pairs = Object.entries(input).filter(([, value]) => value !== undefined);
  return pairs.map((pair, index) => (index ? '&' : '?') + pair.map(encodeURIComponent).join('=')).join('');
}

function resultOf({ ok, status, headers }: Response, text: string, starts: boolean): Result<unknown> {
  let body: Body | null = null;
  try {
    body = JSON.parse(text || 'null');
  } catch {
    return unexpected(status);
  }
  if (ok && (body || !starts)) return { data: starts && body ? withStep(body) : body, error: null };
  const { type, title, ...error } = body ?? {};
  if (typeof error.code !== 'string' || typeof error.detail !== 'string') return unexpected(status);
  const wait = headers.get('retry-after') ?? '';
  return {
    data: null,
    error: { ...error, status, ...(/^\d{1,9}$/.test(wait) && { retryAfter: Number(wait) }) } as ClientError,
  };
}

interface Body extends Partial<ClientError> {
  readonly type?: string;
  readonly title?: string;
  readonly second_factor?: object;
  readonly session?: { readonly tasks?: readonly string[] };
}

function withStep(body: Body): object {
  const task = body.session?.tasks?.[0];
  const step = body.second_factor ? 'second_factor' : task ? 'task' : 'done';
  return { step, ...(task && { task }), ...body };
}

function unexpected(status: number): Result<never> {
  return failed(status, 'unexpected', 'The request failed. Try again later.');
}
