import { type Auth, internalsOf } from '../../auth.js';
import type { Settings } from '../../config/config.js';
import { STUCK_SECONDS } from '../../health.js';
import type { WindowPolicy } from '../../limits/store.js';
import { counted } from '../output.js';
import { type Finding, ok, problem, warning } from './finding.js';

const MAX_LISTED = 200;

/** Checks the results of `auth.health()` other than the database and its schema. */
export async function* checkHealth(auth: Auth, settings: Settings): AsyncGenerator<Finding> {
  let health = await auth.health();
  // Try again, because the first call might have been slow only once, for example to connect.
  if (health.degraded.length > 0) health = await auth.health();
  yield checkWrites(!health.degraded.includes('writes'));
  if (settings.rateLimit)
    yield checkCounters(!health.degraded.includes('limits'), settings.rateLimit.store !== null);
  const { pending, oldestSeconds } = health.outbox;
  const held = health.degraded.includes('mails_to_strangers') ? await heldIn(auth) : 0;
  if (settings.email && settings.rateLimit) yield checkStrangers(settings.rateLimit.rules.strangers, held);
  if (pending === null || oldestSeconds === null)
    yield problem(
      'outbox',
      'the database did not count the waiting entries within two seconds',
      'find out why the database is so slow',
    );
  else yield await checkPending(auth, pending - held, oldestSeconds);
  yield* await checkFailed(auth);
}

function checkWrites(areAccepted: boolean): Finding {
  const check = 'writes';
  if (areAccepted) return ok(check, 'the database accepts writes');
  return problem(
    check,
    'the database does not accept writes, or takes more than two seconds for one: sign-ins get 503',
    'make sure that the database is the primary, that it is not read-only, and that its disk is not full',
  );
}

function checkCounters(areWritten: boolean, isRedis: boolean): Finding {
  const check = 'counters';
  if (areWritten) return ok(check, 'the rate-limit counters can be used');
  return problem(
    check,
    `the rate-limit counters cannot be used in ${isRedis ? 'Redis' : 'the database'}: sign-ins and all other limited requests get 503`,
    isRedis
      ? 'start Redis, check the URL or client in rateLimit.store, and make sure that its memory is not full (maxmemory)'
      : 'find out why the database is so slow',
  );
}

async function heldIn(auth: Auth): Promise<number> {
  const { held } = await internalsOf(auth).core.outbox.rows.counts();
  return held;
}

function checkStrangers(rule: WindowPolicy | null, held: number): Finding {
  const check = 'strangers';
  if (!rule)
    return warning(
      check,
      'the number of emails to addresses that no account has proven is not limited: bots can send any number of them in the name of your app',
      'leave rateLimit.strangers out of the config',
    );
  const limit = `at most ${counted(rule.limit, 'email')} in ${inWords(rule.windowMs / 1000)} to addresses that no account has proven`;
  if (held === 0) return ok(check, `${limit}; none is held`);
  return warning(
    check,
    `${limit}; ${counted(held, 'more is held', 'more are held')} until the next window`,
    'if bots sign up, add a human check; if users do, raise rateLimit.strangers',
  );
}

async function checkPending(auth: Auth, pending: number, oldestSeconds: number): Promise<Finding> {
  const check = 'outbox';
  if (pending === 0) return ok(check, 'no email or webhook is waiting');
  const what = `${counted(pending, 'email or webhook waits', 'emails and webhooks wait')} to be sent, the oldest for ${inWords(oldestSeconds)}`;
  if (oldestSeconds < STUCK_SECONDS) return ok(check, what);
  const { entries } = await auth.outbox.list({ state: 'waiting', limit: MAX_LISTED });
  const last = entries.find(({ lastError }) => lastError !== null);
  return last
    ? warning(
        check,
        `${what}. The last error, for ${last.kind}: ${last.lastError}`,
        'fix the error in the log; entries are retried for three days, or immediately with npx latchkey outbox retry <id>',
      )
    : warning(
        check,
        `${what}, and no process has tried to send them lately`,
        'let a process of the app run, with email and webhooks in its config and without outbox: { interval: false }; or have a job call auth.outbox.deliver()',
      );
}

async function checkFailed(auth: Auth): Promise<Finding[]> {
  const { entries, nextCursor } = await auth.outbox.list({ state: 'failed', limit: MAX_LISTED });
  const [last] = entries;
  if (!last) return [];
  const more = nextCursor === null ? '' : 'more than ';
  const what = counted(entries.length, 'email or webhook', 'emails and webhooks');
  return [
    warning(
      'outbox',
      `${more}${what} could not be sent, and will not be retried. The last error, for ${last.kind}: ${last.lastError}`,
      'fix the error in the log, then run npx latchkey outbox retry --all-failed; npx latchkey outbox list --failed lists them for a week',
    ),
  ];
}

function inWords(seconds: number): string {
  if (seconds < 120) return counted(seconds, 'second');
  if (seconds < 2 * 3600) return counted(Math.floor(seconds / 60), 'minute');
  if (seconds < 2 * 86_400) return counted(Math.floor(seconds / 3600), 'hour');
  return counted(Math.floor(seconds / 86_400), 'day');
}
