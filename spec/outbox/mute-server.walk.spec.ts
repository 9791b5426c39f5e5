import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { ada, startApp } from '../support/app.js';
import { outboxOf } from '../support/outbox.js';
import { startProcess } from '../support/processes.js';

test('auth.close() ends the connection to a mail server that says nothing more, and the process exits', async () => {
  const sockets = new Set<Socket>();
  let greeted = () => {};
  const sending = new Promise<void>((resolve) => {
    greeted = resolve;
  });
  const mute = createServer((socket) => {
    sockets.add(socket);
    socket.write('220 mail.example.com ready\r\n');
    socket.once('data', greeted);
  });
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const { port } = mute.address() as AddressInfo;
  const app = await startApp({ config: { baseUrl: 'http://app.example.com', email: { send() {} } } });
  try {
    const { id: userId } = await app.auth.users.create(ada);
    const process = await startProcess<string>('outbox', {
      url: app.database.url,
      port,
      userId,
      action: 'set-password-and-close',
    });
    const closing = process.go();
    await sending;
    const begun = performance.now();
    expect(await Promise.all([closing, process.go()])).toEqual(['closed', 'closed']);
    expect(sockets.size).toBe(1);
    expect(await process.exited).toBe(0);
    // The timeout of the connection is 30 seconds.
    expect(performance.now() - begun).toBeLessThan(20_000);
    // It has not been sent, so another process tries it again.
    expect(await outboxOf(app.database)).toMatchObject([{ kind: 'password-changed', state: 'waiting' }]);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => mute.close(resolve));
    await app.stop();
  }
}, 60_000);
