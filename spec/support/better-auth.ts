import { DatabaseSync } from '@photostructure/sqlite';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { toNodeHandler } from 'better-auth/node';
import { admin } from 'better-auth/plugins';
import express from 'express';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import type { SpecDatabase } from './database.js';
import { listening } from './old-app.js';

export const BETTER_AUTH_SECRET = 'the secret of better-auth, of 32 bytes and more';

/** An app with better-auth in the database of a spec. */
export async function startBetterAuth(database: SpecDatabase, options: Partial<BetterAuthOptions> = {}) {
  const connection = connect(database);
  const app = express();
  const server = await listening(app);
  const auth = betterAuth({
    database: connection.client as never,
    secret: BETTER_AUTH_SECRET,
    baseURL: server.origin,
    emailAndPassword: { enabled: true, password: { hash: async (it) => it, verify: async () => true } },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { level: 'error' },
    // This plugin adds the columns for banned users, and for impersonation.
    plugins: [admin()],
    ...options,
  });
  await (await auth.$context).runMigrations();
  app.use(toNodeHandler(auth));
  return {
    auth,
    origin: server.origin,
    async stop() {
      await server.stop();
      await connection.close();
    },
  };
}

function connect({ url, sequelize }: SpecDatabase): { readonly client: unknown; close(): Promise<unknown> } {
  const dialect = sequelize.getDialect();
  if (dialect === 'mysql') {
    const client = createPool({ uri: url.replace(/^mariadb:/, 'mysql:'), timezone: 'Z' });
    return { client, close: () => client.end() };
  }
  if (dialect === 'postgres') {
    const client = new pg.Pool({ connectionString: url });
    return { client, close: () => client.end() };
  }
  const client = new DatabaseSync(url.replace(/^sqlite:/, ''), { timeout: 5000 });
  return { client: likeBetterSqlite(client), close: async () => client.close() };
}

/** Implements the parts of better-sqlite3 that better-auth needs, because that package must be compiled. */
function likeBetterSqlite(client: InstanceType<typeof DatabaseSync>) {
  const plain = (row: unknown) => ({ ...(row as object) });
  return {
    aggregate: true,
    prepare(sql: string) {
      const statement = client.prepare(sql);
      return {
        reader: /^\s*(select|with|pragma)\b|\breturning\b/i.test(sql),
        all: (parameters: never[]) => statement.all(...parameters).map(plain),
        run: (parameters: never[]) => statement.run(...parameters),
      };
    },
    close: () => {},
  };
}
