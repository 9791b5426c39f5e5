import { ROUTES } from '../../lib/client/generated/routes.js';
import type { Route, Routes } from '../../lib/client/transport.js';

interface Method {
  /** Its name with those of the objects that have it, such as `credential.signIn`. */
  readonly name: string;
  readonly route: Route;
}

/** The methods of the client, with the routes that they call. */
export const METHODS = methodsIn(ROUTES, '');

/** The objects of the plugins. */
export const OBJECTS = Object.entries(ROUTES).flatMap(([name, one]) => ('path' in one ? [] : name));

function methodsIn(routes: Routes, object: string): readonly Method[] {
  return Object.entries(routes).flatMap(([key, one]): readonly Method[] => {
    const name = object + key;
    return 'path' in one ? [{ name, route: one as Route }] : methodsIn(one, `${name}.`);
  });
}
