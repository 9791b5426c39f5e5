import type { RequestHandler } from 'express';

/**
 * Middleware of latchkey, such as a guard. It has a name of its own, because TypeScript can name Express's in the
 * declarations of an app only if the packages with the types that Express uses are installed directly.
 */
export interface Middleware extends RequestHandler {}
