import type { MethodByRoute } from '../client/generated/by-route.js';
import type { DataOf, InputOf } from '../client/result.js';
import type { AnyShape } from '../client/shape.js';
import type { Reply, Route } from '../http/route.js';

/** The fields of any app, which pages know only by their names. */
interface AnyApp extends AnyShape {
  fields: Readonly<Record<string, unknown>>;
}

type Methods = MethodByRoute<AnyApp>;

/** The name of a route, such as `get /two-factor`. */
export type RouteName = keyof Methods;

/** The body of a route's response. */
export type Found<Name extends RouteName> = DataOf<Methods[Name]>;

/** The body that a route accepts or, for GET, its query. */
export type Given<Name extends RouteName> = InputOf<Methods[Name]>;

/** A route whose name is known, and so the types of its bodies. */
export interface NamedRoute<Name extends RouteName = RouteName> extends Route {
  /** Exists only in the type system. */
  readonly name?: Name;
}

/** Returns the body of a response. */
export function foundIn<Name extends RouteName>(_route: NamedRoute<Name>, { body }: Reply): Found<Name> {
  return body as Found<Name>;
}

/** The name of a route whose path has no parameters. */
export type FixedRouteName = Exclude<RouteName, `${string}:${string}`>;

/** Returns the path of a route below the mount path. */
export function pathOf(name: FixedRouteName): string {
  return name.slice(name.indexOf(' ') + 1);
}
