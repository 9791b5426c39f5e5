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

/**
 * A route as the client calls it: its method, its path and marks. `input`: it accepts a body, or query parameters with
 * GET. `signs`: it signs in, so its data gets a `step`. `session`: it can change the session. `ends`: it ends the
 * session.
 *
 * @internal
 */
export type Route = string;

/** @internal */
export type Send = (route: Route, given?: readonly unknown[]) => Promise<Result<unknown>>;

/**
 * Creates the function that calls routes. Its arguments are the parameters of the path, the input if the route accepts
 * one, and then options.
 *
 * @internal
 */
export function transport({ baseUrl, bearer, fetch }: TransportOptions): Send {
  return async (route, given = []) => {
    const [method = '', path = ''] = route.split(' ');
    const values = [...given];
    const signal = signalOf(route, given);
    let token: string | null = null;
    let isSent = false;
    let response: Response;
    let text: string;
    try {
      const filled = path.replace(/:\w+/g, () => encodeURIComponent(values.shift() as string));
      // An empty or dotted segment would lead to another route.
      if (/\/\.{0,2}(\/|$)/.test(filled)) return unexpected(0);
      const input = route.includes(' input') ? ((values.shift() ?? {}) as object) : null;
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
    const signs = route.includes(' signs');
    const result = resultOf(response, text, signs);
    const next = response.headers.get('set-auth-token');
    const isOver = result.error ? result.error.code === 'invalid_session' : route.includes(' ends');
    try {
      // Unless this call signs in, another user's token might have replaced its own in the meantime.
      if (bearer && (next || isOver) && (signs || (await bearer.get()) === token)) await bearer.set(next);
    } catch (error) {
      report(error);
    }
    return result;
  };
}

/**
 * Returns the signal of a call. Its options follow the parameters of the path and the input.
 *
 * @internal
 */
export function signalOf(route: Route, given: readonly unknown[]): AbortSignal | undefined {
  return (given[route.split(/:| input/).length - 1] as CallOptions | undefined)?.signal;
}

function queryOf(input: object): string {
  const pairs = Object.entries(input).filter(([, value]) => value !== undefined);
  return pairs.map((pair, index) => (index ? '&' : '?') + pair.map(encodeURIComponent).join('=')).join('');
}

function resultOf({ ok, status, headers }: Response, text: string, signs: boolean): Result<unknown> {
  let body: Body | null = null;
  try {
    body = JSON.parse(text || 'null');
  } catch {
    return unexpected(status);
  }
  if (ok && (body || !signs)) return { data: signs && body ? withStep(body) : body, error: null };
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
