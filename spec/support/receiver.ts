import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keepingIdle } from './client.js';

/** A webhook that has arrived. */
export interface ReceivedHook {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts a server that receives webhooks. It responds with 204, unless another response is set for a path. */
export async function startReceiver() {
  const hooks: ReceivedHook[] = [];
  const waiting = new Set<() => void>();
  const answers = new Map<string, (res: ServerResponse) => void>();
  const server = keepingIdle(
    createServer((req, res) => {
      let body = '';
      req.on('data', (chunk) => {
        body += chunk;
      });
      req.on('end', () => {
        const { url: path = '', method = '', headers } = req;
        hooks.push({ path, method, headers, body });
        const answer = answers.get(path);
        if (answer) answer(res);
        else res.writeHead(204).end();
        for (const look of waiting) look();
      });
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    hooks,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (path: string, how: (res: ServerResponse) => void) => answers.set(path, how),
    of: (path: string) => hooks.filter((hook) => hook.path === path),
    /** Resolves once this many webhooks have arrived at a path. */
    async arrived(path: string, count: number): Promise<ReceivedHook[]> {
      const there = () => hooks.filter((hook) => hook.path === path);
      await new Promise<void>((resolve) => {
        const look = () => {
          if (there().length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
      return there();
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
