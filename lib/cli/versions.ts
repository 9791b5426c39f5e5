import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Settings } from '../config/config.js';
import type { Database } from '../database/database.js';
import type { Package } from './call.js';
import { type DatabaseServer, serverInWords, serverOf } from './checks/database.js';

/** The versions of this package, its runtime and its dependencies. */
export interface Versions {
  readonly latchkey: string;
  readonly node: string;
  /** Null if the package is not found, as for all packages here. */
  readonly express: string | null;
  readonly sequelize: string | null;
  /** Sequelize's name for the database. */
  readonly dialect: string;
  /** Null if the database does not respond. */
  readonly server: DatabaseServer | null;
  /** The drivers of the database and of Redis, by package. `node:sqlite` is a part of Node. */
  readonly drivers: Readonly<Record<string, string | null>>;
}

/** Finds the versions. For a peer dependency, this is the version of the copy that this package loads. */
export async function versionsOf(
  { version, folder }: Package,
  database: Database,
  { rateLimit }: Settings,
): Promise<Versions> {
  const { sequelize } = database;
  const installed = (name: string) => installedVersion(name, join(folder, 'package.json'));
  const usesRedis = typeof rateLimit?.store === 'string';
  const drivers = [driverOf(sequelize), ...(usesRedis ? ['ioredis'] : [])];
  return {
    latchkey: version,
    node: process.versions.node,
    express: installed('express'),
    sequelize: (sequelize.constructor as { version?: string }).version ?? null,
    dialect: sequelize.getDialect(),
    server: database.clock.isSet ? await serverOf(database).catch(() => null) : null,
    drivers: Object.fromEntries(
      drivers.map((name) => [name, name === 'node:sqlite' ? process.versions.node : installed(name)]),
    ),
  };
}

/** The versions on one line. */
export function versionsInWords({ latchkey, node, express, sequelize, dialect, server, drivers }: Versions) {
  const packages = { latchkey, Node: node, Express: express, Sequelize: sequelize };
  const known = (versions: Readonly<Record<string, string | null>>) =>
    Object.entries(versions).map(([name, version]) => `${name} ${version ?? '(not found)'}`);
  const database = `${dialect} (${server ? serverInWords(server) : 'no response'})`;
  return [...known(packages), database, ...known(drivers)].join(', ');
}

const DRIVERS: Readonly<Record<string, string>> = { mysql: 'mysql2', mariadb: 'mariadb', postgres: 'pg' };

function driverOf(sequelize: Database['sequelize']): string {
  const driver = DRIVERS[sequelize.getDialect()];
  if (driver) return driver;
  const { dialectModule } = (sequelize as unknown as { options: { dialectModule?: object } }).options;
  if (!dialectModule) return 'sqlite3';
  return process.getBuiltinModule('node:sqlite') ? 'node:sqlite' : '@photostructure/sqlite';
}

/** Reads the version from the package's folder, because `exports` of a package can exclude its package.json. */
export function installedVersion(name: string, from: string): string | null {
  for (const folder of createRequire(from).resolve.paths(name) ?? []) {
    try {
      return JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).version;
    } catch {
      // The package is not in this folder.
    }
  }
  return null;
}
