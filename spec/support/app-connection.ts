import { DatabaseSync } from '@photostructure/sqlite';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { dialect, type SpecDatabase } from './database.js';
import { until } from './until.js';

/** A connection of an app that does not use Sequelize, and begins its own transactions. */
export interface AppConnection {
  /** The connection, as the app passes it to latchkey. */
  readonly connection: object;
  /** Sends a statement. */
  send(sql: string): Promise<unknown>;
  /** Begins a transaction. On SQLite, waits until no other connection writes. */
  begin(): Promise<void>;
  /** Closes the connection without a word, as if the process had died. */
  cut(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a database with its driver. */
export async function connectByDriver({ url }: SpecDatabase, options: object = {}): Promise<AppConnection> {
  if (dialect === 'sqlite') return onSqlite(url.replace('sqlite:', ''));
  return dialect === 'mysql' ? onMysql(url, options) : onPostgres(url);
}

function onSqlite(file: string): AppConnection {
  const connection = new DatabaseSync(file);
  const send = async (sql: string) => connection.exec(sql);
  const close = async () => connection.close();
  const isBegun = () =>
    send('BEGIN IMMEDIATE').then(
      () => true,
      (error) => /locked/.test(String(error)) && false,
    );
  return { connection, send, begin: () => until(isBegun), cut: close, close };
}

async function onMysql(url: string, options: object): Promise<AppConnection> {
  const connection = await createConnection({ uri: url, ...options });
  const send = (sql: string) => connection.query(sql);
  const cut = async () => connection.destroy();
  return { connection, send, begin: () => connection.beginTransaction(), cut, close: () => connection.end() };
}

async function onPostgres(url: string): Promise<AppConnection> {
  const connection = new pg.Client(url);
  await connection.connect();
  const send = (sql: string) => connection.query(sql);
  const cut = async () => {
    connection.on('error', () => undefined);
    (connection as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  };
  const begin = () => send('BEGIN').then(() => undefined);
  return { connection, send, begin, cut, close: () => connection.end() };
}
