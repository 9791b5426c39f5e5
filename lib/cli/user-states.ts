import { type Command, InvalidArgumentError } from 'commander';
import type { Transaction } from 'sequelize';
import * as z from 'zod';
import { internalsOf } from '../auth.js';
import { AppError } from '../database/faults.js';
import { done, findUser, trying, WHO, WHO_HELP } from './account.js';
import { type Acting, type Call, collect } from './call.js';
import { Refusal } from './output.js';
import { pluginOf, requires } from './plugins.js';

/** Adds the commands of `latchkey users` that change whether and how an account can be used. */
export function addUserStates(users: Command, acting: Acting): void {
  users
    .command('suspend')
    .description(
      `Suspend an account, or change its suspension, and end its sessions. ${requires('suspension')}`,
    )
    .argument(WHO, WHO_HELP)
    .option(
      '--until <time>',
      'when the suspension expires: an ISO 8601 date or time (default: never)',
      readTime,
    )
    .option('--reason <text>', 'a note for administrators, which users never see')
    .option('--dry-run', 'check whether it would work, and change nothing')
    .action(acting(suspend));
  users
    .command('reinstate')
    .description(`Lift the suspension of an account. ${requires('suspension')}`)
    .argument(WHO, WHO_HELP)
    .option('--dry-run', 'check whether it would work, and change nothing')
    .action(acting(reinstate));
  users
    .command('roles')
    .description(`Print the roles of an account, or change them. ${requires('roles')}`)
    .argument(WHO, WHO_HELP)
    .option('--add <role>', 'a role to give; can be repeated', collect)
    .option('--remove <role>', 'a role to take; can be repeated', collect)
    .option('--dry-run', 'check whether it would work, and change nothing')
    .action(acting(changeRoles));
  users
    .command('disable-second-factor')
    .description(
      `Disable the second factor of a user who has lost it, and end their sessions. Verify the user's identity first. ${requires('twoFactor')}`,
    )
    .argument(WHO, WHO_HELP)
    .option('--dry-run', 'check whether it would work, and change nothing')
    .action(acting(disableSecondFactor));
  users
    .command('restore')
    .description('Restore a deleted account within the grace period of accountDeletion.')
    .argument(WHO, WHO_HELP)
    .option('--dry-run', 'check whether it would work, and change nothing')
    .action(acting(restore));
}

async function suspend(call: Call): Promise<void> {
  const suspension = pluginOf(call.auth, 'suspension');
  const { until, reason } = call.options as { until?: Date; reason?: string };
  const { id } = await findUser(call);
  await trying(call, (transaction) => suspension.suspend(id, { until, reason, transaction }));
  const end = until ? ` until ${until.toISOString()}` : '';
  done(
    call,
    id,
    `The account is suspended${end}. Its sessions and pending sign-ins have ended. Its undo links still work.`,
    `The account would be suspended${end}, and its sessions would end.`,
  );
}

async function reinstate(call: Call): Promise<void> {
  const suspension = pluginOf(call.auth, 'suspension');
  const user = await findUser(call);
  if (!suspension.isSuspended(user)) return done(call, user.id, NOT_SUSPENDED, NOT_SUSPENDED);
  await trying(call, (transaction) => suspension.reinstate(user.id, { transaction }));
  done(
    call,
    user.id,
    'The suspension is lifted. The user has to sign in again.',
    'The suspension would be lifted.',
  );
}

const NOT_SUSPENDED = 'The account is not suspended.';

async function changeRoles(call: Call): Promise<void> {
  const roles = pluginOf(call.auth, 'roles');
  const { add = [], remove = [], dryRun = false } = call.options as RolesOptions;
  const { id } = await findUser(call);
  if (add.length + remove.length === 0) {
    const stored = await roles.of(id);
    return call.out.result({ id, roles: stored }, listed(stored));
  }
  const { core } = internalsOf(call.auth);
  const changed = (before: readonly string[]) => {
    const missing = remove.find((role) => !before.includes(role));
    if (missing !== undefined)
      // Otherwise it would count as an error of the database.
      throw new AppError(new Refusal(`the account does not have the role ${missing}`));
    return [...before.filter((role) => !remove.includes(role)), ...add];
  };
  const after = await trying(call, (transaction) =>
    core.inTransaction(transaction, () => roles.change(id, changed)),
  );
  call.out.result({ id, roles: after.roles, dryRun }, `${dryRun ? 'Would be: ' : ''}${listed(after.roles)}`);
}

interface RolesOptions {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly dryRun?: boolean;
}

function listed(roles: readonly string[]): string {
  return roles.join(', ') || 'The account has no roles.';
}

async function disableSecondFactor(call: Call): Promise<void> {
  const twoFactor = pluginOf(call.auth, 'twoFactor');
  const { core } = internalsOf(call.auth);
  const { id } = await findUser(call);
  const hadFactor = await trying(call, async (transaction) => {
    const epoch = (within?: Transaction) =>
      core.inTransaction(within, async () => (await core.users.require(id)).authEpoch);
    const before = await epoch(transaction);
    await twoFactor.disable(id, { transaction });
    // `disable` ends sessions only if the account had a second factor.
    return (await epoch(transaction)) !== before;
  });
  if (hadFactor)
    done(
      call,
      id,
      'The second factor is disabled. The sessions of the account have ended, and its undo links no longer work.',
      'The second factor would be disabled. The sessions of the account would end, and its undo links would stop working.',
    );
  else
    done(
      call,
      id,
      'The account has no second factor, so its sessions continue. Its undo links no longer work.',
      'The account has no second factor. Its undo links would stop working.',
    );
}

async function restore(call: Call): Promise<void> {
  const { id, deletedAt } = await findUser(call);
  if (!deletedAt) return done(call, id, NOT_DELETED, NOT_DELETED);
  await trying(call, (transaction) => call.auth.users.restore(id, { transaction }));
  done(
    call,
    id,
    'The account is restored, with its password. The deletion ended its sessions and invalidated its emailed links, so the user has to sign in again.',
    'The account would be restored.',
  );
}

const NOT_DELETED = 'The account is not deleted.';

const time = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

function readTime(text: string): Date {
  if (!time.safeParse(text).success)
    throw new InvalidArgumentError(
      'It must be a date, or a time with a time zone, such as 2027-01-31 or 2027-01-31T18:00:00Z.',
    );
  return new Date(text);
}
