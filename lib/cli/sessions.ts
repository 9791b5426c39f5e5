import type { Command } from 'commander';
import { isUuid } from '../crypto/uuid.js';
import { findUser, trying, WHO, WHO_HELP } from './account.js';
import type { Acting, Call } from './call.js';
import { counted, Refusal, usageError } from './output.js';
import { pluginOf, requires } from './plugins.js';

/** Adds `latchkey sessions`. */
export function addSessions(parent: Command, acting: Acting): void {
  const sessions = parent
    .command('sessions')
    .description('List and revoke the sessions of an account.')
    .helpCommand(false);
  sessions
    .command('list')
    .description('List the active sessions of an account, newest first.')
    .argument(WHO, WHO_HELP)
    .action(acting(listSessions));
  sessions
    .command('revoke')
    .description('Revoke a session of an account, or all of them.')
    .argument(WHO, WHO_HELP)
    .argument('[session]', 'the id of a session, from sessions list')
    .option('--all', 'revoke all sessions, and end sign-ins in progress')
    .option('--dry-run', 'print how many sessions would be revoked, and revoke none')
    .action(acting(revokeSessions));
}

/** Adds `latchkey keys`. */
export function addKeys(parent: Command, acting: Acting): void {
  const keys = parent
    .command('keys')
    .description(`List and revoke the API keys of an account. ${requires('keys')}`)
    .helpCommand(false);
  keys
    .command('list')
    .description('List the API keys of an account, newest first, with the start of each key.')
    .argument(WHO, WHO_HELP)
    .action(acting(listKeys));
  keys
    .command('revoke')
    .description('Revoke an API key of an account.')
    .argument(WHO, WHO_HELP)
    .argument('<key>', 'the id of a key, from keys list')
    .option('--dry-run', 'check whether the key would be revoked, and change nothing')
    .action(acting(revokeKey));
}

async function listSessions(call: Call): Promise<void> {
  const { id } = await findUser(call);
  const sessions = await call.auth.listSessions(id);
  const lines = sessions.map(({ id, createdAt, lastActiveAt, expiresAt, ipAddress, userAgent }) =>
    [
      id,
      `from ${createdAt.toISOString()}`,
      `active ${lastActiveAt.toISOString()}`,
      `until ${expiresAt.toISOString()}`,
      ipAddress ?? '-',
      userAgent ?? '-',
    ].join('  '),
  );
  call.out.result({ sessions }, lines.join('\n') || 'The account has no active sessions.');
}

async function revokeSessions(call: Call): Promise<void> {
  const { auth, args, out } = call;
  const { all = false, dryRun = false } = call.options as { all?: boolean; dryRun?: boolean };
  const [, sessionId] = args;
  if (all === (sessionId !== undefined)) throw usageError('pass the id of a session, or --all');
  const { id } = await findUser(call);
  const sessions = await trying(call, async (transaction) => {
    if (sessionId === undefined) return auth.revokeAllSessions(id, { transaction });
    const isRevoked = isUuid(sessionId) && (await auth.revokeSessionById(id, sessionId, { transaction }));
    if (!isRevoked)
      throw new Refusal(`the account has no active session with the id ${sessionId}`, 'session_not_found');
    return 1;
  });
  const what = counted(sessions, 'session');
  out.result({ id, sessions, dryRun }, dryRun ? `Would revoke ${what}.` : `${what} revoked.`);
}

async function listKeys(call: Call): Promise<void> {
  const api = pluginOf(call.auth, 'keys');
  const { id } = await findUser(call);
  const keys = await api.list(id);
  const lines = keys.map(({ id, name, start, scopes, createdAt, expiresAt, lastUsedAt }) =>
    [
      id,
      `${start}…`,
      `from ${createdAt.toISOString()}`,
      `used ${lastUsedAt?.toISOString() ?? 'never'}`,
      `until ${expiresAt?.toISOString() ?? 'revoked'}`,
      scopes.length > 0 ? scopes.join(' ') : 'every scope',
      name,
    ].join('  '),
  );
  call.out.result({ keys }, lines.join('\n') || 'The account has no API keys.');
}

async function revokeKey(call: Call): Promise<void> {
  const api = pluginOf(call.auth, 'keys');
  const { args, out } = call;
  const [, keyId = ''] = args;
  const { dryRun = false } = call.options as { dryRun?: boolean };
  const { id } = await findUser(call);
  const isRevoked =
    isUuid(keyId) && (await trying(call, (transaction) => api.revoke(id, keyId, { transaction })));
  if (!isRevoked) throw new Refusal(`the account has no API key with the id ${keyId}`, 'api_key_not_found');
  out.result({ id, key: keyId, dryRun }, dryRun ? 'The key would be revoked.' : 'The key is revoked.');
}
