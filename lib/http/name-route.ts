import type { IRoute } from 'express';
import type { Core } from '../core/core.js';

/** Sets `http.route` on the spans of requests to a route. Without telemetry, no handler is added. */
export function nameRoute(
  { settings: { telemetry }, basePath }: Core,
  route: Pick<IRoute, 'all'>,
  path: string,
): void {
  if (!telemetry) return;
  route.all((_req, _res, next) => {
    telemetry.route(() => basePath.template(path));
    next();
  });
}
