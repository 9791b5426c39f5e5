/**
 * The names of migrations in earlier commits, by the migration that has replaced them. They created the same tables in
 * several steps. They were never released, so this file can be deleted once databases of those commits are no longer
 * supported.
 */
const former = new Map([
  [
    '0001-core',
    [
      '0001-users-and-sessions',
      '0004-rate-limits',
      '0005-one-time-tokens',
      '0007-longer-password-hashes',
      '0008-devices',
      '0009-proved-mailboxes',
      '0010-replaced-tokens',
      '0011-epochs-of-tokens',
      '0013-longer-usernames',
      '0014-assurance',
      '0015-account-changes',
      '0016-deleted-users',
      '0019-large-tables',
      '0020-outbox',
      '0025-carried-sessions',
    ],
  ],
]);

/** The last commit with these migrations. */
const LAST_COMMIT = 'f379456';

/** Declares the migration that a plugin had before its first migration was derived from its tables. */
export function declareFormerMigration(plugin: string, name: string): void {
  former.set(`0001-${plugin}`, [name]);
}

/**
 * Replaces the names that earlier commits have written to a journal with today's names. The journal can contain both,
 * if a process ended while it replaced them.
 *
 * @throws Error if only some of the migrations that today's migration has replaced were applied
 */
export function renamed(rows: readonly string[]): string[] {
  let names = [...rows];
  for (const [name, parts] of former) {
    const others = names.filter((row) => !parts.includes(row.replace(/ .*/, '')));
    if (others.length === names.length) continue;
    // An interrupted undo leaves the name, and a row with its progress.
    const isComplete = (part: string) =>
      names.includes(part) && !names.some((row) => row.startsWith(`${part} `));
    const missing = parts.filter((part) => !isComplete(part));
    if (!names.includes(name)) {
      if (missing.length > 0) throw new Error(incomplete(missing));
      others.push(name);
    }
    names = others;
  }
  return names;
}

function incomplete(missing: readonly string[]): string {
  return (
    'latchkey: migrate: an earlier version has migrated this database only in part: ' +
    `${new Intl.ListFormat('en').format(missing)} ${missing.length === 1 ? 'is' : 'are'} missing or unfinished. ` +
    `Nothing has been changed. Call auth.migrate() with the commit ${LAST_COMMIT} first, then with this version`
  );
}
