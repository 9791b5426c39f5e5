import { problemsOf } from '../../lib/http/declared-problems.js';
import type { Route } from '../../lib/http/route.js';
import type { Server } from './servers.js';
import { merged, type Type, type Types } from './types.js';

/** A method of the client, as it must be to call all servers. */
export interface Method {
  /** Its name with those of the objects that have it, such as `credential.signIn`. */
  readonly name: string;
  readonly route: Route;
  /** Null if it has none. */
  readonly input: Type | null;
  readonly isInputOptional: boolean;
  readonly data: Type;
  readonly codes: ReadonlySet<string>;
}

const NULL: Type = [{ text: 'null' }];

/** Returns the methods of the routes, in the order of their names. */
export function methodsOf(servers: readonly Server[], types: Types): readonly Method[] {
  const methods = new Map<string, Method>();
  for (const { core, routes } of servers) {
    for (const route of routes) {
      if (route.client === undefined) continue;
      const known = methods.get(route.client);
      if (known && keyOf(known.route) !== keyOf(route))
        throw new TypeError(`${keyOf(known.route)} and ${keyOf(route)} both have the method ${route.client}`);
      const schema = route.body ?? route.query;
      const method: Method = {
        name: route.client,
        route,
        input: schema ? types.of(schema, 'input') : null,
        // An update without a value would be a mistake.
        isInputOptional: route.method !== 'patch' && schema?.safeParse({}).success !== false,
        data: dataOf(route, types),
        codes: new Set(Object.values(problemsOf(core, route)).flat()),
      };
      methods.set(route.client, known ? union(known, method) : method);
    }
  }
  return [...methods.values()];
}

/** The name of a route, such as `get /me`. */
export function keyOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

/** The data of a method: null for a response without a body. The client follows no redirect. */
function dataOf({ answers }: Route, types: Types): Type {
  const responses = Object.entries(answers).filter(([status]) => status.startsWith('2'));
  return responses.map(([, { schema }]) => (schema ? types.of(schema, 'output') : NULL)).reduce(merged);
}

function union(a: Method, b: Method): Method {
  return {
    ...a,
    input: a.input && b.input ? merged(a.input, b.input) : (a.input ?? b.input),
    isInputOptional: a.isInputOptional && b.isInputOptional,
    data: merged(a.data, b.data),
    codes: new Set([...a.codes, ...b.codes]),
  };
}
