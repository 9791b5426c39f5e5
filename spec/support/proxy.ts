import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A wire to a database server that can be cut. */
export interface DatabaseProxy {
  /** The database's URL by way of the proxy. */
  readonly url: string;
  pass(): Promise<void>;
  /** Resets every connection, and refuses new ones. */
  refuse(): Promise<void>;
  /** Keeps every connection open, and lets nothing through. */
  blackHole(): void;
  /** Lets everything through, so many milliseconds late. */
  delay(ms: number): void;
  /** Resets the connections that there are. */
  cut(): void;
  /** Resets the connection on which a statement comes, once: when it comes, or when its answer does. */
  cutAt(statement: RegExp, moment: 'before' | 'after'): void;
  stop(): Promise<void>;
}

export async function startProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let holding = false;
  let delayMs = 0;
  let cutting: { statement: RegExp; moment: 'before' | 'after' } | null = null;
  let port = 0;
  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let answerIsLost = false;
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (from === client && cutting?.statement.test(bytes.toString('latin1'))) {
          answerIsLost = true;
          if (cutting.moment === 'after') to.write(bytes);
          else client.resetAndDestroy();
          cutting = null;
        } else if (answerIsLost) client.resetAndDestroy();
        else if (delayMs > 0) setTimeout(() => to.write(bytes), delayMs);
        else if (!holding) to.write(bytes);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => sockets.delete(from) && !holding && to.destroy());
    }
  });
  const listen = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  };
  const refuse = async () => {
    const closed = server.listening && new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
  };
  await listen();
  port = (server.address() as AddressInfo).port;
  const url = new URL(databaseUrl);
  url.port = String(port);
  return {
    url: url.href,
    cut,
    refuse,
    async pass() {
      // What was swallowed is lost, so its connections are of no use any more.
      if (holding) cut();
      holding = false;
      delayMs = 0;
      if (!server.listening) await listen();
    },
    delay(ms) {
      delayMs = ms;
    },
    blackHole() {
      holding = true;
    },
    cutAt(statement, moment) {
      cutting = { statement, moment };
    },
    stop: refuse,
  };
}
