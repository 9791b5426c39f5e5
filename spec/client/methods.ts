import { ROUTES } from '../../lib/client/generated/routes.js';
import { type Route, type Routes, says } from '../../lib/client/transport.js';

interface Method {
  /** Its name with those of the objects that have it, such as `credential.signIn`. */
  readonly name: string;
  /** Matches a request of the route, such as `GET /devices`. */
  readonly request: RegExp;
  /** How many parameters its path has. */
  readonly parameters: number;
  readonly hasInput: boolean;
  /** Whether a call does something to the session. */
  readonly isOfSession: boolean;
}

/** The methods of the client, with facts about the routes that they call. */
export const METHODS = methodsIn(ROUTES, '');

/** The objects of the plugins. */
export const OBJECTS = Object.entries(ROUTES).flatMap(([name, one]) => (typeof one === 'string' ? [] : name));

function methodsIn(routes: Routes, object: string): readonly Method[] {
  return Object.entries(routes).flatMap(([key, one]): readonly Method[] => {
    const name = object + key;
    return typeof one === 'string' ? [{ name, ...factsOf(one) }] : methodsIn(one, `${name}.`);
  });
}

function factsOf(route: Route): Omit<Method, 'name'> {
  const [path = '', method] = route.split(' ');
  return {
    request: new RegExp(`^${method} ${path.replaceAll(':', '[^/]+')}$`),
    parameters: path.split(':').length - 1,
    hasInput: says(route, 'input'),
    isOfSession: says(route, 'starts') || says(route, 'changes') || says(route, 'ends'),
  };
}
