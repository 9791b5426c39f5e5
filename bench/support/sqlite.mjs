// The SQLite of this Node, or the package with the same API on versions that have none.

// @photostructure/sqlite closes a file whose statements are all that is still used of it.
const open = [];

/** @param {string} path */
export async function openSqlite(path) {
  const { DatabaseSync } =
    process.getBuiltinModule('node:sqlite') ?? (await import('@photostructure/sqlite'));
  const file = new DatabaseSync(path);
  file.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL');
  open.push(file);
  return file;
}
