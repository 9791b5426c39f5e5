import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Sequelize } from 'sequelize';
import { createAuth, passkeys } from '../lib/index.js';
import { ada, password, SECRET } from './support/app.js';
import { dialect } from './support/database.js';

interface Node {
  readonly port: number;
  query(sql: string, values?: unknown): Promise<Record<string, unknown>[]>;
}

/** An app on each of the nodes, as docs/scaling.md describes it. */
const authOn = ({ port }: Node) => {
  const database = new Sequelize(`mysql://root@127.0.0.1:${port}/latchkey`, { logging: false });
  database.addHook('afterConnect', (connection) =>
    (connection as { promise(): { query(sql: string): Promise<void> } })
      .promise()
      .query('SET SESSION wsrep_sync_wait = 7'),
  );
  const plugins = [password(), passkeys()] as const;
  const baseUrl = 'http://localhost';
  return {
    auth: createAuth({ database, secret: SECRET, baseUrl, rateLimit: false, plugins }),
    close: () => database.close(),
  };
};

let nodes: Node[];
let apps: ReturnType<typeof authOn>[] = [];
let stop = async () => {};

const isInstalled = existsSync('/usr/lib/galera/libgalera_smm.so') && existsSync('/usr/sbin/mariadbd');

(dialect === 'mysql' && isInstalled ? describe : describe.skip)('a Galera cluster', () => {
  beforeAll(async () => {
    // Not by its name, since it has no types.
    const { startCluster } = await import(resolve(import.meta.dirname, '../bench/galera/nodes.mjs'));
    ({ nodes, stop } = await startCluster());
    await nodes[0]?.query('CREATE DATABASE latchkey CHARACTER SET utf8mb4');
    apps = nodes.map(authOn);
    await apps[0]?.auth.migrate();
  }, 120_000);
  afterAll(async () => {
    for (const { auth, close } of apps) {
      await auth.close();
      await close();
    }
    await stop();
  }, 180_000);

  const signUp = async () => {
    const email = `${randomUUID()}@example.com`;
    return (await apps[0]!.auth.credential.signUp({ email, password: ada.password }))!.user;
  };

  const refusesWhatOneRevokes = async (auths: Pick<(typeof apps)[number], 'auth'>[]) => {
    const { email } = await signUp();
    for (let round = 0; round < 30; round++) {
      const [here, ...others] = [0, 1, 2].map((offset) => auths[(round + offset) % 3]!.auth);
      const { token, user, session } = await here!.credential.signIn({
        credential: email!,
        password: ada.password,
      });
      const headers = { cookie: `latchkey=${token}` };
      for (const other of others) expect((await other.getSession({ headers })).session?.id).toBe(session.id);
      await here!.revokeSessionById(user.id, session.id);
      for (const other of others)
        await expect(other.getSession({ headers })).rejects.toMatchObject({ code: 'invalid_session' });
    }
  };

  test('refuses a session on every node as soon as one has revoked it', () => refusesWhatOneRevokes(apps));

  test('does so for apps that name a URL too, if the servers are configured to wait', async () => {
    for (const node of nodes) await node.query('SET GLOBAL wsrep_sync_wait = 7');
    const byUrl = nodes.map(({ port }) => {
      const plugins = [password(), passkeys()] as const;
      const database = `mysql://root@127.0.0.1:${port}/latchkey`;
      return createAuth({ database, secret: SECRET, baseUrl: 'http://localhost', rateLimit: false, plugins });
    });
    try {
      await refusesWhatOneRevokes(byUrl.map((auth) => ({ auth })));
    } finally {
      for (const auth of byUrl) await auth.close();
    }
  });

  test('keeps the last way to sign in when two nodes remove one each', async () => {
    // Sequelize reports each COMMIT that fails, which is then tried again.
    const warnings = jest.spyOn(console, 'warn').mockReturnValue();
    for (let round = 0; round < 10; round++) {
      const { id: user_id, updatedAt } = await signUp();
      const ids = [randomUUID(), randomUUID()];
      for (const id of ids) {
        await nodes[0]!.query('INSERT INTO latchkey.passkeys SET ?', {
          id,
          user_id,
          name: 'a key',
          created_at: new Date(),
          device_type: 'multiDevice',
          backed_up: true,
          transports: '',
          credential_id: id,
          credential_hash: randomBytes(32),
          public_key: 'a key',
          user_handle: randomUUID(),
          counter: 0,
        });
      }
      await nodes[0]!.query('UPDATE latchkey.users SET password_hash = NULL WHERE id = ?', [user_id]);
      const removals = ids.map((id, index) => apps[index]!.auth.passkeys.remove(user_id, id));
      const outcomes = (await Promise.allSettled(removals)).map((outcome) =>
        outcome.status === 'fulfilled' ? 'removed' : outcome.reason.code,
      );
      expect(outcomes.sort()).toEqual(['last_sign_in_method', 'removed']);
      expect((await apps[2]!.auth.users.get(user_id))?.updatedAt).toEqual(updatedAt);
    }
    warnings.mockRestore();
  });
});
