import type { Command } from 'commander';
import { findUser, trying, WHO, WHO_HELP } from './account.js';
import type { Acting, Call } from './call.js';
import { Refusal } from './output.js';
import { paged } from './paging.js';
import { pluginOf, requires } from './plugins.js';

/** The argument that names an organization. */
const WHICH = '<organization>';
const WHICH_HELP = 'the id or slug of the organization';

/** Adds `latchkey organizations`. */
export function addOrganizations(parent: Command, acting: Acting): void {
  const organizations = parent
    .command('organizations')
    .description(`List organizations, and list and change their members. ${requires('organizations')}`)
    .helpCommand(false);
  paged(organizations.command('list').description('List organizations, newest first.')).action(acting(list));
  const members = organizations
    .command('members')
    .description('List the members of an organization, newest first.')
    .argument(WHICH, WHICH_HELP);
  paged(members).action(acting(listMembers));
  organizations
    .command('set-role')
    .description('Change the role of a member.')
    .argument(WHICH, WHICH_HELP)
    .argument(WHO, WHO_HELP)
    .argument('<role>', 'a role of the config, or owner')
    .option('--dry-run', 'check whether it would work, and change nothing')
    .action(acting(setRole));
  organizations
    .command('remove-member')
    .description('Remove a member from an organization.')
    .argument(WHICH, WHICH_HELP)
    .argument(WHO, WHO_HELP)
    .option('--dry-run', 'check whether it would work, and change nothing')
    .action(acting(removeMember));
}

async function list({ auth, out, options }: Call): Promise<void> {
  const page = await pluginOf(auth, 'organizations').list(pageOf(options));
  const rows = page.organizations.map(({ id, createdAt, slug, name }) =>
    [id, createdAt.toISOString(), slug, name].join('  '),
  );
  out.result(page, shown(rows, 'No organizations found.', page.nextCursor));
}

async function listMembers(call: Call): Promise<void> {
  const { auth, out, options } = call;
  const { id } = await findOrganization(call);
  const page = await pluginOf(auth, 'organizations').members(id, pageOf(options));
  const rows = page.members.map(({ user, role, createdAt }) =>
    [user.id, createdAt.toISOString(), role, user.email ?? '-', user.username ?? ''].join('  ').trimEnd(),
  );
  out.result({ id, ...page }, shown(rows, 'The organization has no more members.', page.nextCursor));
}

async function setRole(call: Call): Promise<void> {
  const { out, options, args } = call;
  const [, who, role = ''] = args;
  const { dryRun = false } = options as { dryRun?: boolean };
  const { id } = await findOrganization(call);
  const user = await findUser(call, who);
  await trying(call, (transaction) =>
    pluginOf(call.auth, 'organizations').setRole(id, user.id, role, { transaction }),
  );
  out.result(
    { id, user: user.id, role, dryRun },
    dryRun ? `The role of the member would be ${role}.` : `The role of the member is ${role}.`,
  );
}

async function removeMember(call: Call): Promise<void> {
  const { out, options, args } = call;
  const { dryRun = false } = options as { dryRun?: boolean };
  const { id } = await findOrganization(call);
  const user = await findUser(call, args[1]);
  await trying(call, (transaction) =>
    pluginOf(call.auth, 'organizations').removeMember(id, user.id, { transaction }),
  );
  out.result(
    { id, user: user.id, dryRun },
    dryRun ? 'The member would be removed.' : 'The member is removed.',
  );
}

/** Finds the organization that the first argument names. @throws Refusal if there is no such organization */
async function findOrganization({ auth, args: [which = ''] }: Call): Promise<{ readonly id: string }> {
  const organization = await pluginOf(auth, 'organizations').get(which);
  if (!organization)
    throw new Refusal(`no organization has the id or slug ${which}`, 'organization_not_found');
  return organization;
}

function pageOf(options: Call['options']): { readonly limit: number; readonly cursor?: string } {
  const { limit, cursor } = options as { limit: number; cursor?: string };
  return { limit, ...(cursor && { cursor }) };
}

function shown(rows: readonly string[], none: string, nextCursor: string | null): string {
  const more = nextCursor ? [`More: --cursor ${nextCursor}`] : [];
  return [...(rows.length > 0 ? rows : [none]), ...more].join('\n');
}
