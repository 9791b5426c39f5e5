import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { connectByUrl } from '../../lib/database/connect.js';

// It says what a client sends first, which has the names of the user and the database, and ends the connection.
let folder: string;
let server: Server;
let port: number;
let started: Promise<string>;
const listen = (number: number) =>
  new Promise<void>((resolve) => {
    port = number;
    server.listen(join(folder, `.s.PGSQL.${number}`), resolve);
  });
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-spec-'));
  started = new Promise((resolve) => {
    server = createServer((socket) => {
      socket.once('data', (data) => {
        resolve(data.toString('latin1').replaceAll('\0', ' '));
        socket.destroy();
      });
    });
  });
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

describe('a URL of PostgreSQL whose host is the folder of a socket', () => {
  test.each([
    ['postgres://ada@/accounts?host=FOLDER', 5432],
    ['postgresql://ada:p%40ss@/accounts?host=FOLDER', 5432],
    ['postgres://ada@/accounts?host=FOLDER&port=5433', 5433],
    ['postgres://ada@localhost/accounts?host=FOLDER', 5432],
  ])('%s is connected to at the socket', async (url, number) => {
    await listen(number);
    const sequelize = connectByUrl(url.replace('FOLDER', encodeURIComponent(folder)));
    await expect(sequelize?.authenticate()).rejects.toThrow();
    const first = await started;
    expect(first).toContain('user ada');
    expect(first).toContain('database accounts');
    expect(port).toBe(number);
    await sequelize?.close();
  });

  test.each([
    'postgres://ada@/accounts',
    'postgres://ada@/accounts?host=',
    'postgres://ada@:5433/accounts?host=/tmp',
    'mysql://ada@/accounts?host=/tmp',
  ])('%s is refused as before', async (url) => {
    await listen(5432);
    expect(connectByUrl(url)).toBeNull();
  });
});
