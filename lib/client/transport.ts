import { type Signal, throwIfAborted } from './abort.js';
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
  readonly bearer: BearerStore | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** Called after a call that might have changed the session. */
  changed?(signal: Signal): Promise<void>;
}

/**
 * A route as the client calls it: its path, with a colon for each parameter, its method, and the first letters of the words
 * about it. Objects, and whole words, would make the client larger.
 *
 * @internal
 */
export type Route = `/${string} ${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'}${string}`;

/**
 * A word about a route. `input`: it accepts a body or, with GET, query parameters. `starts`, `changes` and `ends`: what a
 * successful call does to the session. If it starts one, the data gets a `step`. `human`: a server with a human check
 * requires a token by default.
 */
type Word = 'input' | 'starts' | 'changes' | 'ends' | 'human';

/** Returns whether a route has a word. @internal */
export function says(route: Route, word: Word): boolean {
  return route.includes(` ${word[0]}`);
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
  parameters?: readonly unknown[],
  human?: string,
) => Promise<Result<unknown>>;

/** Creates the function that calls routes. @internal */
export function transport({ baseUrl, bearer, fetch, changed }: TransportOptions): Send {
  return async (route, given, options, parameters = [], human) => {
    const [path, method] = route.split(' ') as [string, string];
    const signal = options?.signal;
    const starts = says(route, 'starts');
    const rest = [...parameters];
    let token: string | null = null;
    let next: string | null = null;
    // The result, if the next step fails.
    let result = unexpected();
    try {
      const filled = path.replace(/:/g, () => encodeURIComponent(rest.shift() as string));
      // An empty or dotted segment would lead to another route.
      if (/\/\.{0,2}(\/|$)/.test(filled)) return result;
      const input = says(route, 'input') ? ((given ?? {}) as object) : null;
      const body = input && method !== 'GET' ? JSON.stringify(input) : null;
      const query = input && !body ? queryOf(input) : '';
      if (bearer) token = await bearer.get();
      result = failed('network', 'The server could not be reached. Try again later.');
      const response = await fetch(baseUrl + filled + query, {
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
      const text = await response.text();
      next = response.headers.get('set-auth-token');
      result = unexpected(response.status);
      result = resultOf(response, JSON.parse(text || 'null'), starts);
    } catch (error) {
      throwIfAborted(signal, error);
    }
    const { error } = result;
    const isOver = error ? error.code === 'invalid_session' : says(route, 'ends');
    try {
      // Unless this call starts a session, another user's token might have replaced its own in the meantime.
      if (bearer && (next || isOver) && (starts || (await bearer.get()) === token)) await bearer.set(next);
    } catch (error) {
      report(error);
    }
    if (isOver || (!error && (starts || says(route, 'changes')))) await changed?.(signal);
    return result;
  };
}

function queryOf(input: object): string {
  const pairs = Object.entries(input).filter(([, value]) => value !== undefined);
  return pairs.map((pair, index) => (index ? '&' : '?') + pair.map(encodeURIComponent).join('=')).join('');
}

function resultOf({ ok, status, headers }: Response, body: Body | null, starts: boolean): Result<unknown> {
  if (ok && !starts) return { data: body, error: null };
  if (ok && body) return { data: withStep(body), error: null };
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

function unexpected(status?: number): Result<unknown> {
  return failed('unexpected', 'The request failed. Try again later.', status);
}
