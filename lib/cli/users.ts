import type { Command } from 'commander';
import { type Orphan, orphans } from '../accounts/list.js';
import { type Auth, internalsOf } from '../auth.js';
import type { UserForAdmins } from '../users/record.js';
import { done, findUser, trying, WHO, WHO_HELP } from './account.js';
import { type Acting, type Call, collect } from './call.js';
import { counted, escaped, Refusal, usageError } from './output.js';
import { paged } from './paging.js';
import { readPassword } from './password.js';
import { addUserStates } from './user-states.js';

/** Adds `latchkey users`. */
export function addUsers(parent: Command, acting: Acting): void {
  const users = parent
    .command('users')
    .description('Find, create, change and delete accounts.')
    .helpCommand(false);
  const listing = users
    .command('list')
    .description('List accounts, newest first.')
    .option('--search <text>', 'only accounts whose email or username contains this text');
  paged(listing).action(acting(list));
  users
    .command('orphans')
    .description("List accounts that have no row in the app's table of users (user.model).")
    .option('--delete', 'delete these accounts')
    .action(acting(listOrphans));
  users
    .command('find')
    .description('Print an account.')
    .argument(WHO, WHO_HELP)
    .action(acting(async (call) => showUser(call, await findUser(call))));
  users
    .command('export')
    .description('Print everything that is stored about the user of an account, as JSON.')
    .argument(WHO, WHO_HELP)
    .action(acting(exportUser));
  users
    .command('create')
    .description(
      'Create an account. If you pass no password, the user signs in with another method, or sets a password with a reset link.',
    )
    .option('--email <email>', 'the email')
    .option('--verified', 'mark the email as verified, because you know that it belongs to the user')
    .option('--username <name>', 'the username')
    .option('--field <name=value>', 'a value for one of your custom fields; can be repeated', collect)
    .option('--password-stdin', 'read a password from stdin')
    .option('--skip-password-rules', 'accept any password')
    .option('--dry-run', 'check whether the account would be created, and create nothing')
    .action(acting(create));
  users
    .command('set-password')
    .description('Set the password of an account, read from stdin, and end its sessions.')
    .argument(WHO, WHO_HELP)
    .option('--keep-sessions', 'do not end its sessions')
    .option('--skip-password-rules', 'accept any password')
    .option('--dry-run', 'check whether the password would be accepted, and change nothing')
    .action(acting(setPassword));
  users
    .command('require-new-password')
    .description(
      'Require the user of an account to choose a new password. The current password stops working, and all sessions are revoked.',
    )
    .argument(WHO, WHO_HELP)
    .option('--dry-run', 'check whether it would work, and change nothing')
    .action(acting(requirePassword));
  users
    .command('verify-email')
    .description(
      'Mark the email of an account as verified. Do this only if you know that the email belongs to the user.',
    )
    .argument(WHO, WHO_HELP)
    .option('--dry-run', 'check whether it would work, and change nothing')
    .action(acting(verifyEmail));
  users
    .command('sign-out')
    .description('End all sessions of an account.')
    .argument(WHO, WHO_HELP)
    .option('--dry-run', 'print how many sessions would end, and end none')
    .action(acting(signOut));
  addUserStates(users, acting);
  users
    .command('delete')
    .description('Delete an account with everything that belongs to it.')
    .argument(WHO, WHO_HELP)
    .option('--at-once', 'skip the grace period of accountDeletion')
    .option('--dry-run', 'check whether it would work, and delete nothing')
    .option('--yes', 'confirm the deletion')
    .action(acting(remove));
}

async function list({ auth, out, options }: Call): Promise<void> {
  const { search, limit, cursor } = options as { search?: string; limit: number; cursor?: string };
  const page = await auth.users.list({ limit, ...(search && { search }), ...(cursor && { cursor }) });
  const rows = page.users.map(({ id, email, username, createdAt }) =>
    [id, createdAt.toISOString(), email ?? '-', username ?? ''].join('  ').trimEnd(),
  );
  const more = page.nextCursor ? [`More: --cursor ${page.nextCursor}`] : [];
  out.result(page, [...(rows.length > 0 ? rows : ['No accounts found.']), ...more].join('\n'));
}

async function exportUser(call: Call): Promise<void> {
  const { id } = await findUser(call);
  const data = await call.auth.exportUser(id);
  call.out.result(data, escaped(JSON.stringify(data, null, 2)));
}

const BATCH = 500;

async function listOrphans({ auth, out, options, signal }: Call): Promise<void> {
  const { core } = internalsOf(auth);
  const { rows } = core.users;
  if (!rows)
    throw new Refusal('users orphans requires your own table of users: set user.model in the config');
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
          `--field ${text}: pass name=value; the config has the fields ${Object.keys(fields).join(', ') || '(none)'}`,
        );
      return [
        name,
        type === 'string' || type === 'plainDate'
          ? value
          : type === 'date'
            ? new Date(value)
            : readJson(text, value),
      ];
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
