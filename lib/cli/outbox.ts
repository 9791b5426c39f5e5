import type { Command } from 'commander';
import { internalsOf } from '../auth.js';
import { isUuid } from '../crypto/uuid.js';
import { type OutgoingMail, recipientOf } from '../mail/mails.js';
import type { OutboxEntry } from '../outbox/api.js';
import { maskEmail } from '../users/canonical.js';
import type { Acting, Call } from './call.js';
import { counted, Refusal, usageError } from './output.js';
import { paged } from './paging.js';

/** Adds `latchkey outbox`. */
export function addOutbox(parent: Command, acting: Acting): void {
  const outbox = parent
    .command('outbox')
    .description('List and retry emails and webhooks.')
    .helpCommand(false);
  const listing = outbox
    .command('list')
    .description('List emails and webhooks, newest first, without their content.')
    .option('--failed', 'only those that failed and are no longer retried');
  paged(listing).action(acting(list));
  outbox
    .command('retry')
    .description('Send emails and webhooks that have failed, and retry them for three more days.')
    .argument('[id]', 'the id of an email or webhook, from outbox list')
    .option('--all-failed', 'all emails and webhooks that failed and are no longer retried')
    .action(acting(retry));
}

/** An entry as the command prints it: the recipient is masked, and the URL contains no credentials. */
interface ShownEntry extends OutboxEntry {
  /** Null for a webhook, and for an email that is no longer stored or cannot be decrypted. */
  readonly recipient: string | null;
}

async function list(call: Call): Promise<void> {
  const { failed, limit, cursor } = call.options as { failed?: boolean; limit: number; cursor?: string };
  const { entries: found, nextCursor } = await call.auth.outbox.list({
    limit,
    ...(failed && { state: 'failed' }),
    ...(cursor && { cursor }),
  });
  const recipients = await recipientsOf(call, found);
  const entries = found.map(
    (entry): ShownEntry => ({
      ...entry,
      endpoint: entry.endpoint && withoutCredentials(entry.endpoint),
      recipient: recipients.get(entry.id) ?? null,
    }),
  );
  const lines = entries.length > 0 ? entries.map(inWords) : ['No emails or webhooks found.'];
  const more = nextCursor ? [`More: --cursor ${nextCursor}`] : [];
  call.out.result({ entries, nextCursor }, [...lines, ...more].join('\n'));
}

function inWords(entry: ShownEntry): string {
  const { id, kind, state, held, attempts, lastError, createdAt, nextAttemptAt, finishedAt } = entry;
  return [
    id,
    createdAt.toISOString(),
    held ? 'held' : state,
    kind,
    entry.recipient ?? entry.endpoint ?? '-',
    counted(attempts, 'attempt'),
    ...(lastError === null ? [] : [lastError]),
    ...(nextAttemptAt ? [`next ${nextAttemptAt.toISOString()}`] : []),
    ...(finishedAt ? [`finished ${finishedAt.toISOString()}`] : []),
  ].join('  ');
}

/** Returns the masked recipients of emails, by the ids of their entries. */
async function recipientsOf(
  { auth }: Call,
  entries: readonly OutboxEntry[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = internalsOf(auth).core.outbox;
  const emails = entries.filter(({ channel }) => channel === 'email').map(({ id }) => id);
  const recipients = new Map<string, string>();
  for (const row of await rows.find(emails)) {
    try {
      recipients.set(row.id, maskEmail(recipientOf(rows.open(row).content as OutgoingMail)));
    } catch {
      // The content of the entry has been deleted, or its secret is no longer in the config.
    }
  }
  return recipients;
}

/** Removes the query of a URL, because it can contain a key. The config rejects a username or password. */
function withoutCredentials(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

async function retry(call: Call): Promise<void> {
  const { auth, args, out, signal, fail } = call;
  const { allFailed = false } = call.options as { allFailed?: boolean };
  const [id] = args;
  if (allFailed === (id !== undefined))
    throw usageError('pass the id of an email or webhook, or --all-failed');
  const retried: string[] = [];
  for (const one of id === undefined ? await allThatFailed(call) : [id]) {
    signal.throwIfAborted();
    if (isUuid(one) && (await auth.outbox.retry(one))) retried.push(one);
  }
  if (id !== undefined && retried.length === 0)
    throw new Refusal(`no failed email or webhook has the id ${id}`, 'entry_not_found');
  // `deliver` returns once every entry that is due has been tried.
  await auth.outbox.deliver();
  const { outbox, database } = internalsOf(auth).core;
  const rows = await outbox.rows.find(retried);
  const sent = rows.filter(({ state }) => state === 'sent' || state === 'dropped').length;
  // An entry that no process has tried is still due.
  const now = database.clock.date();
  const failed = rows.filter(
    ({ state, dueAt }) => state === 'failed' || (state === 'waiting' && dueAt !== null && dueAt > now),
  ).length;
  const waiting = rows.length - sent - failed;
  out.result(
    { retried: retried.length, sent, failed, waiting },
    `${counted(retried.length, 'email or webhook', 'emails and webhooks')} retried: ${sent} sent, ${failed} failed again, ${waiting} left to processes of the app.`,
  );
  if (failed > 0) fail();
}

async function allThatFailed({ auth }: Call): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await auth.outbox.list({ state: 'failed', limit: 200, ...(cursor && { cursor }) });
    ids.push(...page.entries.map((entry) => entry.id));
    if (page.nextCursor === null) return ids;
    cursor = page.nextCursor;
  }
}
