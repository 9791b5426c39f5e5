import { problemsOf } from '../../lib/http/declared-problems.js';
import type { Route } from '../../lib/http/route.js';
import type { Server } from './servers.js';
import { tsdoc } from './source.js';

const ROUTE: Route = {
  method: 'get',
  path: '/',
  summary: 'Show the codes of routes like this one',
  access: 'session',
  openTo: 'any-task',
  answers: {},
  handle: () => Promise.reject(new TypeError('the route is never called')),
};

/** The error codes that many routes share: each set has the codes of a route without problems of its own. */
export class Codes {
  readonly #sets: ReadonlyMap<string, { readonly codes: ReadonlySet<string>; readonly description: string }>;

  constructor(servers: readonly Server[]) {
    const of = (route: Partial<Route>) =>
      servers.flatMap(({ core }) => Object.values(problemsOf(core, { ...ROUTE, ...route })).flat());
    const closed = servers.flatMap(({ core }) =>
      core.contributions.flatMap(({ accountProblems = [] }) => accountProblems),
    );
    const sent: Partial<Route> = { method: 'post' };
    this.#sets = new Map(
      Object.entries({
        ClosedCode: {
          codes: new Set(closed),
          description:
            'The error codes of a request without a session, for an account that is pending deletion or suspended',
        },
        ReadingCode: {
          codes: new Set(of({})),
          description: 'The error codes of every GET route that requires a session',
        },
        SendingCode: {
          codes: new Set(of({ ...sent, access: 'public' })),
          description: 'The error codes of every other route',
        },
        ChangingCode: {
          codes: new Set(of(sent)),
          description: 'The error codes of every other route that requires a session',
        },
        FreshCode: {
          codes: new Set(of({ ...sent, sensitive: { asks: 'fresh' } })),
          description: 'The error codes of a change that requires a recent sign-in',
        },
        FreshOrPasswordCode: {
          codes: new Set(of({ ...sent, sensitive: { asks: 'fresh-or-password' } })),
          description: 'The error codes of a change that requires a recent sign-in or the password',
        },
      }),
    );
  }

  get names(): readonly string[] {
    return [...this.#sets.keys()];
  }

  /** Returns the declarations of the sets. */
  declarations(): readonly string[] {
    const names = this.names;
    return [...this.#sets].map(
      ([name, { codes, description }], index) =>
        `${tsdoc(description)}export type ${name} = ${this.#union(codes, names.slice(0, index))};`,
    );
  }

  /** Returns a union of codes in TypeScript. */
  of(codes: ReadonlySet<string>): string {
    return this.#union(codes, this.names);
  }

  /** @param names the sets that it can name, from small to large */
  #union(codes: ReadonlySet<string>, names: readonly string[]): string {
    const rest = new Set(codes);
    const used = names.toReversed().filter((name) => {
      const set = [...(this.#sets.get(name)?.codes ?? [])];
      const adds = set.filter((code) => rest.has(code)).length;
      if (adds < 2 || !set.every((code) => codes.has(code))) return false;
      for (const code of set) rest.delete(code);
      return true;
    });
    return [...used, ...[...rest].sort().map((code) => `'${code}'`)].join(' | ');
  }
}
