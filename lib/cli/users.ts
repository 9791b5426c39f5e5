import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError } from 'commander';
import type { Transaction } from 'sequelize';
import { listUsers, type Orphan, orphans } from '../accounts/list.js';
import { type Auth, internalsOf } from '../auth.js';
import { isUuid } from '../crypto/uuid.js';
import type { UserForAdmins } from '../users/record.js';
import type { Acting, Call } from './call.js';
import { counted, Refusal, usageError } from './output.js';

const WHO = '<user>';
const WHO_HELP = 'an id, an email or a username';

/** Adds `latchkey users`. */
export function addUsers(parent: Command, acting: Acting): void {
  const users = parent
    .command('users')
    .description('Find, create, change and delete accounts.')
    .helpCommand(false);
  users
    .command('list')
    .description('List accounts, newest first.')
    .option('--search <text>', 'only those with this text in the email, username or id')
    .option('--limit <count>', 'how many, at most 200', readLimit, 50)
    .option('--cursor <cursor>', 'the cursor that the previous page printed')
    .action(acting(list));
  users
    .command('orphans')
    .description("List accounts that have no row in the app's table of users (user.model).")
    .option('--delete', 'delete them')
    .action(acting(listOrphans));
  users
    .command('find')
    .description('Print an account.')
    .argument(WHO, WHO_HELP)
    .action(acting(async (call) => showUser(call, await findUser(call))));
  users
    .command('create')
    .description(
      'Create an account. Without a password, its user signs in in another way, or resets it by email.',
    )
    .option('--email <email>', 'the email')
    .option('--verified', 'the email is known to be theirs')
    .option('--username <name>', 'the username')
    .option('--field <name=value>', 'a field of the app; may be given several times', collect)
    .option('--password-stdin', 'read a password from stdin')
    .option('--skip-password-rules', 'accept any password')
    .option('--dry-run', 'say whether it would be created, and create nothing')
    .action(acting(create));
  users
    .command('set-password')
    .description('Set the password of an account, read from stdin, and end its sessions.')
    .argument(WHO, WHO_HELP)
    .option('--keep-sessions', 'do not end its sessions')
    .option('--skip-password-rules', 'accept any password')
    .option('--dry-run', 'say whether it would be accepted, and change nothing')
    .action(acting(setPassword));
  users
    .command('require-new-password')
    .description(
      'Require a new password of an account, whose present one becomes invalid, and revoke its sessions.',
    )
    .argument(WHO, WHO_HELP)
    .option('--dry-run', 'say whether it would work, and change nothing')
    .action(acting(requirePassword));
  users
    .command('verify-email')
    .description('Mark the email of an account as verified. Only for an email that you know to be theirs.')
    .argument(WHO, WHO_HELP)
    .option('--dry-run', 'say whether it would work, and change nothing')
    .action(acting(verifyEmail));
  users
    .command('sign-out')
    .description('End all sessions of an account.')
    .argument(WHO, WHO_HELP)
    .option('--dry-run', 'say how many there are, and end none')
    .action(acting(signOut));
  users
    .command('delete')
    .description('Delete an account with everything that belongs to it.')
    .argument(WHO, WHO_HELP)
    .option('--at-once', 'skip the grace period of accountDeletion')
    .option('--dry-run', 'say whether it would work, and delete nothing')
    .option('--yes', 'confirm it')
    .action(acting(remove));
}

async function list({ auth, out, options }: Call): Promise<void> {
  const { search, limit, cursor } = options as { search?: string; limit: number; cursor?: string };
  const { core } = internalsOf(auth);
  const page = await listUsers(core, { limit, ...(search && { search }), ...(cursor && { cursor }) });
  const rows = page.users.map(({ id, email, username, createdAt }) =>
    [id, createdAt.toISOString(), email ?? '-', username ?? ''].join('  ').trimEnd(),
  );
  const more = page.nextCursor ? [`More: --cursor ${page.nextCursor}`] : [];
  out.result(page, [...(rows.length > 0 ? rows : ['There are none.']), ...more].join('\n'));
}

const BATCH = 500;

async function listOrphans({ auth, out, options, signal }: Call): Promise<void> {
  const { core } = internalsOf(auth);
  const { rows } = core.users;
  if (!rows)
    throw new Refusal('users orphans is for apps with rows of their own: set user.model in the config');
  const isDeleted = options.delete === true;
  const users: Orphan[] = [];
  for (let after: string | null = null; ; ) {
    signal.throwIfAborted();
    const page: Orphan[] = await orphans(core, rows, after, BATCH);
    for (const one of page) {
      if (isDeleted) await auth.users.delete(one.id, { atOnce: true });
      users.push(one);
    }
    after = page.at(-1)?.id ?? null;
    if (page.length < BATCH) break;
  }
  const lines = users.map(({ id, email, username }) =>
    [id, email ?? '-', username ?? ''].join('  ').trimEnd(),
  );
  const summary = `${counted(users.length, 'account')} without a row of ${rows.model.name}`;
  out.result(
    { deleted: isDeleted, users },
    [...lines, `${summary}${isDeleted ? ' deleted' : ''}.`].join('\n'),
  );
}

async function create(call: Call): Promise<void> {
  const { auth, options, signal } = call;
  const {
    email,
    username,
    verified,
    skipPasswordRules,
    passwordStdin,
    field = [],
  } = options as unknown as CreateOptions;
  if (email === undefined && username === undefined && !passwordStdin && field.length === 0)
    throw usageError('pass --email or --username');
  const fields = readFields(auth, field);
  const password = passwordStdin ? await readPassword(signal) : null;
  const user = await trying(call, (transaction) =>
    auth.users.create({
      email,
      username,
      emailVerified: verified,
      password,
      skipPasswordRules,
      fields,
      transaction,
    }),
  );
  showUser(call, user, options.dryRun ? 'Would create an account:' : 'Created:');
}

interface CreateOptions {
  readonly email?: string;
  readonly username?: string;
  readonly verified?: boolean;
  readonly skipPasswordRules?: boolean;
  readonly passwordStdin?: boolean;
  readonly field?: readonly string[];
}

async function setPassword(call: Call): Promise<void> {
  const { auth, options, signal } = call;
  const { id } = await findUser(call);
  const password = await readPassword(signal);
  const { keepSessions, skipPasswordRules } = options as {
    keepSessions?: boolean;
    skipPasswordRules?: boolean;
  };
  await trying(call, (transaction) =>
    auth.users.setPassword(id, password, { keepSessions, skipPasswordRules, transaction }),
  );
  done(call, id, 'The password is set.', 'The password would be accepted.');
}

async function requirePassword(call: Call): Promise<void> {
  const { id } = await findUser(call);
  await trying(call, (transaction) => call.auth.users.requireNewPassword(id, { transaction }));
  done(call, id, 'A new password is required.', 'A new password would be required.');
}

async function verifyEmail(call: Call): Promise<void> {
  const { id, email } = await findUser(call);
  await trying(call, (transaction) => call.auth.markEmailVerified(id, { transaction }));
  done(call, id, `${email} is verified.`, `${email} would be verified.`);
}

async function signOut(call: Call): Promise<void> {
  const { id } = await findUser(call);
  const sessions = await trying(call, (transaction) => call.auth.revokeAllSessions(id, { transaction }));
  const { dryRun = false } = call.options as { dryRun?: boolean };
  const what = counted(sessions, 'session');
  call.out.result({ id, sessions, dryRun }, dryRun ? `Would end ${what}.` : `${what} ended.`);
}

async function remove(call: Call): Promise<void> {
  const { atOnce, dryRun, yes } = call.options as { atOnce?: boolean; dryRun?: boolean; yes?: boolean };
  if (!yes && !dryRun)
    throw usageError('users delete cannot be undone: add --yes to do it, or --dry-run to try it');
  const { id } = await findUser(call);
  await trying(call, (transaction) => call.auth.users.delete(id, { atOnce, transaction }));
  done(call, id, 'The account is deleted.', 'The account would be deleted.');
}

function done({ out, options }: Call, id: string, did: string, would: string): void {
  const { dryRun = false } = options as { dryRun?: boolean };
  out.result({ id, dryRun }, dryRun ? would : did);
}

/** @throws Refusal if there is no such account */
async function findUser({ auth, args: [who = ''] }: Call): Promise<UserForAdmins> {
  const by = who.includes('@') ? { email: who } : { username: who };
  const user = isUuid(who) ? await auth.users.get(who) : await auth.users.find(by);
  if (!user) throw new Refusal(`there is no account ${who}`, 'user_not_found');
  return user;
}

function showUser({ out }: Call, user: UserForAdmins, title?: string): void {
  const lines = Object.entries(user).map(([name, value]) => `  ${name}: ${inWords(value)}`);
  out.result({ user }, [title ?? 'The account:', ...lines].join('\n'));
}

function inWords(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** @throws Refusal if an argument is not `name=value`, or if its value is not of the field's type */
function readFields(auth: Auth, given: readonly string[]): Record<string, unknown> {
  const { fields } = internalsOf(auth).core.settings.user;
  return Object.fromEntries(
    given.map((text) => {
      const [, name = '', value = ''] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? [];
      const { type } = fields[name] ?? {};
      if (!type)
        throw usageError(
          `--field ${text}: pass name=value; the fields are ${Object.keys(fields).join(', ') || 'none'}`,
        );
      return [name, type === 'string' ? value : type === 'date' ? new Date(value) : readJson(text, value)];
    }),
  );
}

function readJson(text: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw usageError(`--field ${text}: the value must be JSON, such as 1, true or null`);
  }
}

function collect(one: string, others: readonly string[] = []): readonly string[] {
  return [...others, one];
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new InvalidArgumentError('It must be 1 to 200.');
  return limit;
}

/**
 * Reads a password from stdin. At a terminal, the command asks for it twice and does not show it; other input must be
 * one line. Arguments cannot contain the password, because other users of the machine could see it.
 *
 * @throws Refusal if there is no password
 */
async function readPassword(signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  const password = stdin.isTTY ? await ask(signal) : (await text(stdin)).replace(/\r?\n$/, '');
  if (password === '') throw new Refusal('no password came from stdin');
  if (/[\r\n]/.test(password)) throw new Refusal('the password must be one line');
  return password;
}

async function ask(signal: AbortSignal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  // The terminal is now in raw mode, where Ctrl-C is a character and sends no signal.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    process.stderr.write('New password: ');
    const password = await terminal.question('', { signal });
    process.stderr.write('\nThe same again: ');
    const again = await terminal.question('', { signal });
    process.stderr.write('\n');
    if (again !== password) throw new Refusal('the two passwords differ');
    return password;
  } finally {
    terminal.close();
  }
}

/** Makes a change. With `--dry-run`, its transaction is rolled back, so that no emails or events are sent either. */
async function trying<T>(
  { auth, options }: Call,
  change: (transaction: Transaction | undefined) => Promise<T>,
): Promise<T> {
  if (!options.dryRun) return change(undefined);
  const { sequelize, dialect } = internalsOf(auth).core.database;
  const type = 'IMMEDIATE' as Transaction.TYPES;
  const transaction = await sequelize.transaction(dialect === 'sqlite' ? { type } : {});
  try {
    return await change(transaction);
  } finally {
    await transaction.rollback();
  }
}
