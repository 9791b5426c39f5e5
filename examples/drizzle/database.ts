export const url = process.env.DATABASE_URL ?? 'sqlite:./app.db';

/** The folder with the tables and queries for the kind of database. An app has only one of them. */
export const folder = url.startsWith('postgres') ? 'postgres' : url.startsWith('sqlite') ? 'sqlite' : 'mysql';
