import { once } from 'node:events';
import { createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Layer, LoadedApp, RouteLayer } from './load.js';
import type { FoundRoute } from './walk.js';

/** The outcome of a request without a session. */
export interface Probe {
  /** Null if there was no response. */
  readonly status: number | null;
  /** Whether the request reached a handler of the route. */
  readonly isReached: boolean;
}

/** How long the app can take to respond. */
const TIMEOUT_MS = 5000;

/**
 * Sends a request without a session to each route, over the loopback address. It first replaces the handlers behind
 * guards, and the last handler of each other route, so that they do not run.
 *
 * @returns the probes of the routes, except for middleware and paths with patterns
 */
export async function probe(
  { listen }: LoadedApp,
  routes: readonly FoundRoute[],
): Promise<Map<FoundRoute, Probe>> {
  let current: FoundRoute | null = null;
  let isReached = false;
  const replace = (layer: Layer | RouteLayer) => {
    layer.handle = (_req: unknown, res: { end(): void }, next: () => void) => {
      // The path of a route can match the address of another route.
      if (!current?.behind.includes(layer)) return next();
      isReached = true;
      res.end();
      return undefined;
    };
  };
  const ofApp = routes.filter(({ access }) => access !== 'latchkey');
  for (const layer of new Set(ofApp.flatMap(({ behind }) => behind))) replace(layer);

  const server = createServer((req, res) => {
    if (current) (current.app as RequestListener)(req, res);
  });
  listen.call(server, { port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const probes = new Map<FoundRoute, Probe>();
  try {
    for (const route of ofApp) {
      if (route.method === 'USE' || route.method === 'CONNECT' || route.address === null) continue;
      current = route;
      isReached = false;
      const status = await ask(port, route.method === 'ALL' ? 'GET' : route.method, route.address);
      probes.set(route, { status, isReached });
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
  return probes;
}

/** Resolves to the status of the response, or to null if there is none. */
function ask(port: number, method: string, path: string): Promise<number | null> {
  return new Promise((resolve) => {
    const headers = { accept: 'application/json' };
    const asked = request({ host: '127.0.0.1', port, method, path, headers, timeout: TIMEOUT_MS });
    asked.once('response', (response) => {
      resolve(response.statusCode ?? null);
      response.destroy();
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(null));
    asked.once('close', () => resolve(null));
    asked.end();
  });
}
