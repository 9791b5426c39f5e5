import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Returns an unused port, for a server that starts later, or that stops and starts again. It is below the ports
 * that a system gives to connections and to servers without a port of their own (from 32768 on Linux, from 49152
 * elsewhere), so none of these takes it in the meantime.
 *
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(12_000, 32_000);
    const server = createServer();
    // Without an address, so that a server on any address of this machine is noticed.
    const isFree = await once(server.listen(port), 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
