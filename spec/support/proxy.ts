import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy in front of a database server that can interrupt the connections. */
export interface DatabaseProxy {
  /** The URL of the database through the proxy. */
  readonly url: string;
  pass(): Promise<void>;
  /** Resets all connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Keeps all connections open but forwards no data. */
  blackHole(): void;
  /** Forwards all data with a delay in milliseconds. */
  delay(ms: number): void;
  /** Resets the current connections. */
  cut(): void;
  /**
   * Resets the connection of a matching statement, once: before the statement is forwarded, or when its
   * result arrives.
   */
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
      // The data that was swallowed is lost, so the connections cannot be used any more.
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
