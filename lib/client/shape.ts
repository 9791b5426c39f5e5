import type { ClientPlugin } from './generated/routes.js';

/**
 * The features of an app's server that its clients need to know. Each app has such an interface, in a file that imports
 * nothing: `npx latchkey client` writes it, and `createAuth({ … }) satisfies HasShape<Shape>` checks it.
 */
export interface AnyShape {
  /** The names of the plugins, as a union. `never` if there are none. */
  plugins: ClientPlugin;
  /** The fields of users that users can see, by their names in JSON. */
  fields: object;
  /** The fields that a sign-up accepts, by their names in JSON. */
  newFields: object;
  /** Whether the server has `bearerEnabled`. */
  bearer: boolean;
}
