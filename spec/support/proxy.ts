import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.mjs';

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
  /** Sends new connections to another server. The current ones stay where they are. */
  leadTo(databaseUrl: string): void;
  /** Resets the current connections. */
  cut(): void;
  /**
   * Resets the connection of a matching statement, once: before the statement is forwarded, or when its
   * result arrives.
   *
   * @param spared how many matching statements are forwarded first
   * @returns a function that returns whether the connection was reset
   */
  cutAt(statement: RegExp, moment: 'before' | 'after', spared?: number): () => boolean;
  /**
   * Resolves when the server has ended all connections whose client has disconnected. Until then, it might still
   * execute statements that it has already received.
   */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

/** A connection of a client, and its connection to the server. */
interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
}

export async function startProxy(databaseUrl: string): Promise<DatabaseProxy> {
  let target = new URL(databaseUrl);
  const pairs = new Set<Pair>();
  /** The connections whose client has disconnected, and that the server has not ended yet. */
  const ending = new Set<Socket>();
  let holding = false;
  let delayMs = 0;
  let cutting: { statement: RegExp; moment: 'before' | 'after'; spared: number; isDone: boolean } | null =
    null;
  const port = await freePort();
  const server: Server = createServer((client) => {
    // Keep it half open: when the server ends its side of the connection, it has executed everything.
    const upstream = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    const pair = { client, upstream };
    pairs.add(pair);
    let answerIsLost = false;
    const isCutAt = (bytes: Buffer) =>
      cutting?.statement.test(bytes.toString('latin1')) && cutting.spared-- <= 0;
    const forward = (to: Socket, bytes: Buffer) => {
      if (to.destroyed || to.writableEnded) return;
      if (delayMs > 0) setTimeout(() => !to.destroyed && !to.writableEnded && to.write(bytes), delayMs);
      else if (!holding) to.write(bytes);
    };
    client.on('data', (bytes) => {
      if (!isCutAt(bytes)) return forward(upstream, bytes);
      answerIsLost = true;
      if (cutting) cutting.isDone = true;
      if (cutting?.moment === 'after') upstream.write(bytes);
      else client.resetAndDestroy();
      cutting = null;
    });
    upstream.on('data', (bytes) => {
      if (answerIsLost) client.resetAndDestroy();
      else forward(client, bytes);
    });
    client.on('error', () => undefined);
    upstream.on('error', () => undefined);
    client.on('close', () => {
      pairs.delete(pair);
      if (upstream.destroyed) return;
      ending.add(upstream);
      upstream.end();
    });
    upstream.on('end', () => {
      upstream.end();
      if (!holding) client.end();
    });
    upstream.on('close', () => {
      ending.delete(upstream);
      if (!holding) client.destroy();
    });
  });
  const listen = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const cut = () => {
    for (const { client } of pairs) client.resetAndDestroy();
  };
  const refuse = async () => {
    const closed = server.listening && new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
  };
  const drained = async () => {
    await Promise.all([...ending].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  };
  await listen();
  const url = new URL(databaseUrl);
  url.port = String(port);
  return {
    url: url.href,
    cut,
    refuse,
    drained,
    async pass() {
      // The swallowed data is lost, so the connections can no longer be used.
      if (holding) cut();
      holding = false;
      delayMs = 0;
      cutting = null;
      if (!server.listening) await listen();
    },
    leadTo(other) {
      target = new URL(other);
    },
    delay(ms) {
      delayMs = ms;
    },
    blackHole() {
      holding = true;
    },
    cutAt(statement, moment, spared = 0) {
      const cut = { statement, moment, spared, isDone: false };
      cutting = cut;
      return () => cut.isDone;
    },
    stop: refuse,
  };
}
