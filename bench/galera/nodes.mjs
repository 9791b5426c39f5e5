// A throw-away Galera cluster of three MariaDB nodes on the loopback interface.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { createConnection } from 'mysql2/promise';
import { otherCores } from '../support/machine.mjs';
import { makeMysqlData } from '../support/mysql-data.mjs';
import { sleep, start } from '../support/processes.mjs';

const SERVER = '/usr/sbin/mariadbd';
const PROVIDER = ['/usr/lib/galera/libgalera_smm.so', '/usr/lib64/galera-4/libgalera_smm.so'];
const READY_MS = 120_000;

/**
 * @typedef {object} Node
 * @property {string} name
 * @property {number} port
 * @property {(sql: string, values?: unknown[]) => Promise<object[]>} query
 * @property {() => Promise<void>} kill with SIGKILL
 * @property {() => Promise<void>} restart waits until the node has what it has missed
 */

/**
 * Starts three nodes.
 *
 * @param {string} [options] of the provider, such as `evs.suspect_timeout=PT1S`
 * @returns {Promise<{ nodes: Node[], version: string, stop(): Promise<void> }>}
 * @throws Error that names what is missing
 */
export async function startCluster(options = '') {
  const provider = PROVIDER.find((path) => existsSync(path));
  if (!existsSync(SERVER) || !provider || !existsSync('/usr/bin/rsync'))
    throw new Error('needs MariaDB, its Galera library and rsync (Debian: mariadb-server, galera-4, rsync)');
  const folder = mkdtempSync(`${tmpdir()}/latchkey-galera-`);
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  process.once('exit', remove);
  const asUser = process.getuid?.() === 0 ? ['--user=mysql'] : [];
  // The server does not run as root, and must reach the folder.
  if (asUser.length > 0) execFileSync('chown', ['mysql', folder]);
  makeMysqlData(SERVER, `${folder}/1`, asUser);
  for (const copy of ['2', '3']) {
    cpSync(`${folder}/1`, `${folder}/${copy}`, { recursive: true });
    mkdirSync(`${folder}/${copy}-tmp`);
  }
  if (asUser.length > 0) execFileSync('chown', ['-R', 'mysql', folder]);

  const places = [];
  for (const name of ['1', '2', '3']) {
    const [port, group, transfer, increments] = await freePorts(4);
    places.push({ name, port, group, transfer, increments });
  }
  const addresses = places.map(({ group }) => `127.0.0.1:${group}`).join(',');
  const run = ({ name, port, group, transfer, increments }, isFirst) =>
    start(otherCores, SERVER, [
      ...['--no-defaults', `--datadir=${folder}/${name}`, `--tmpdir=${folder}/${name}-tmp`, ...asUser],
      `--socket=${folder}/${name}.sock`,
      ...[`--port=${port}`, '--bind-address=127.0.0.1', '--innodb-buffer-pool-size=256M'],
      ...['--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--innodb-flush-log-at-trx-commit=2'],
      ...['--max-connections=300', '--wsrep-on=ON', `--wsrep-provider=${provider}`],
      ...['--wsrep-cluster-name=latchkey', `--wsrep-node-name=node${name}`, '--wsrep-sst-method=rsync'],
      ...[`--wsrep-node-address=127.0.0.1:${group}`, `--wsrep-sst-receive-address=127.0.0.1:${transfer}`],
      `--wsrep-cluster-address=gcomm://${isFirst ? '' : addresses}`,
      `--wsrep-provider-options=${[
        'base_host=127.0.0.1',
        `base_port=${group}`,
        `gmcast.listen_addr=tcp://127.0.0.1:${group}`,
        `ist.recv_addr=127.0.0.1:${increments}`,
        'gcache.size=64M',
        options,
      ].join(';')}`,
    ]);

  const nodes = [];
  for (const place of places) {
    let child = run(place, nodes.length === 0);
    let client = await ready(child, place.port, nodes.length + 1);
    nodes.push({
      name: `node${place.name}`,
      port: place.port,
      query: async (sql, values) => (await client.query(sql, values))[0],
      async kill() {
        client.destroy();
        await child.stop('SIGKILL');
      },
      async restart() {
        child = run(place, false);
        client = await ready(child, place.port, nodes.length);
      },
      async stop() {
        client.destroy();
        await child.stop();
      },
    });
  }
  const [{ version }] = await nodes[0].query('SELECT VERSION() AS version');
  const [{ Value }] = await nodes[0].query("SHOW STATUS LIKE 'wsrep_provider_version'");
  return {
    nodes,
    version: `MariaDB ${version.split('-')[0]}, Galera ${Value.split('(')[0]}`,
    async stop() {
      for (const node of [...nodes].reverse()) await node.stop();
      remove();
    },
  };
}

/** Waits until a node takes part in a cluster of this size, and has all data. @returns a connection to it */
async function ready(child, port, size) {
  let hasEnded = false;
  void child.ended.then(() => {
    hasEnded = true;
  });
  for (const end = Date.now() + READY_MS; Date.now() < end && !hasEnded; await sleep(100)) {
    const client = await createConnection({ host: '127.0.0.1', port, user: 'root' }).catch(() => null);
    // A node that is killed breaks the connection.
    client?.on('error', () => {});
    const [rows] = (await client?.query("SHOW STATUS LIKE 'wsrep\\_%'").catch(() => [[]])) ?? [[]];
    const status = Object.fromEntries(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
    if (status.wsrep_local_state_comment === 'Synced' && Number(status.wsrep_cluster_size) === size)
      return client;
    client?.destroy();
  }
  await child.stop('SIGKILL');
  throw new Error(`the node on port ${port} did not join: ${child.output().slice(-3000)}`);
}

async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
