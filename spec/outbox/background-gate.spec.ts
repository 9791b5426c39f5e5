import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@babel/parser';
import { expect, test } from '@jest/globals';

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

const isCall = (node: unknown): node is Node => /CallExpression$/.test((node as Node | null)?.type ?? '');

/** The name of the function or method that a call calls. */
function calledBy(node: unknown): string {
  if (!isCall(node)) return '';
  const callee = node.callee as Node;
  const { name, id } = (callee.property ?? callee) as { name?: string; id?: { name: string } };
  return name ?? `#${id?.name}`;
}

const TIMERS = ['setTimeout', 'setInterval', 'setImmediate'];
const CHAINED = ['then', 'catch', 'finally'];
/** What is kept in a variable without being awaited. */
const STARTED = ['finally', 'detached', 'share'];

/** The ways in which code lets work continue without its caller: how often each of them occurs. */
function waysIn(source: string): Readonly<Record<string, number>> {
  const { program } = parse(source, { sourceType: 'module', plugins: ['typescript'] });
  const ways: Record<string, number> = {};
  const add = (way: string) => {
    ways[way] = (ways[way] ?? 0) + 1;
  };
  const visit = (node: Node) => {
    if (node.type === 'UnaryExpression' && node.operator === 'void' && isCall(node.argument))
      add(`void ${calledBy(node.argument)}`);
    if (node.type === 'ExpressionStatement' && CHAINED.includes(calledBy(node.expression)))
      add(`.${calledBy(node.expression)}`);
    const stored =
      node.type === 'VariableDeclarator' ? node.init : node.type === 'AssignmentExpression' && node.right;
    if (STARTED.includes(calledBy(stored))) add(`= ${calledBy(stored)}`);
    if (TIMERS.includes(calledBy(node))) add(calledBy(node));
    for (const child of Object.values(node).flat())
      if (typeof (child as Node | null)?.type === 'string') visit(child as Node);
  };
  visit(program as unknown as Node);
  return ways;
}

const ANNOUNCED = 'The work is announced with `context.background`.';
const AWAITED = 'The caller awaits the outcome, and other callers share it.';
const LIMIT = 'It is a time limit, or the pause before the next attempt of work that someone awaits.';
const SYNC = 'Nothing continues: the call is synchronous, or only handles an error.';

/** Every such way in `lib`, and why the work is announced there, or does not have to be. */
const KNOWN: Readonly<Record<string, readonly [ways: Readonly<Record<string, number>>, why: string]>> = {
  'auth.ts': [{ '.catch': 1 }, 'A package is loaded when an Auth is created, which is not in a request.'],
  'context/background.ts': [{ 'void #announce': 1 }, ANNOUNCED],
  'context/call.ts': [{ '= finally': 1 }, AWAITED],
  'context/deadline.ts': [{ setTimeout: 2, '.then': 1 }, LIMIT],
  'database/commits.ts': [{ '= finally': 1, setTimeout: 2 }, ANNOUNCED],
  'database/connect.ts': [{ setTimeout: 3 }, 'They are time limits of sockets.'],
  'database/connection-limit.ts': [{ '.catch': 1, setInterval: 1 }, 'It only lets the pool grow again.'],
  'database/database.ts': [{ '= finally': 1, '.catch': 2 }, `${AWAITED} Or it only closes a connection.`],
  'database/libsql-connection.ts': [{ '.then': 1 }, 'It calls back its caller.'],
  'database/primary.ts': [{ '.catch': 1 }, 'It only closes a connection.'],
  'database/sqlite-driver.ts': [{ 'void then': 2 }, AWAITED],
  'database/together.ts': [{ '.catch': 1 }, SYNC],
  'database/turn.ts': [{ setTimeout: 3, '.then': 1 }, LIMIT],
  'guards/require-member.ts': [{ '.then': 1 }, 'The promise is the app’s. Only its rejection is handled.'],
  'health.ts': [{ '= share': 1, '.then': 1 }, 'Only statements continue, whose deadlines end them.'],
  'http/problem.ts': [{ '.then': 1 }, SYNC],
  'limits/refusals.ts': [{ setInterval: 1, 'void then': 1 }, ANNOUNCED],
  'locale/languages.ts': [{ '.then': 1 }, SYNC],
  'logger.ts': [{ setInterval: 1, '.catch': 1 }, 'It only logs the number of repeated lines, from memory.'],
  'migrations/steps.ts': [{ 'void push': 2 }, SYNC],
  'moving-in/linked-sessions.ts': [{ '= finally': 1 }, 'The call waits for it, or it is announced.'],
  'moving-in/systems/express-session.ts': [{ '.then': 1 }, AWAITED],
  'outbox/lane.ts': [{ '= finally': 1 }, 'The outbox announces it.'],
  'outbox/rows.ts': [{ '.catch': 1 }, ANNOUNCED],
  'outbox/outbox.ts': [{ '= detached': 1, '= finally': 1, '.then': 2, setTimeout: 2 }, ANNOUNCED],
  'outbox/webhooks.ts': [{ '= finally': 1 }, 'The call waits for it, or it is announced.'],
  'plugins/audit-log/api.ts': [
    { '= detached': 1 },
    'Its listener waits for it, and events announce listeners.',
  ],
  'plugins/oauth/discovery.ts': [{ '.then': 1 }, AWAITED],
  'plugins/oauth/identities.ts': [{ '= detached': 1 }, AWAITED],
  'plugins/oauth/revocations.ts': [{ '= finally': 1 }, ANNOUNCED],
  'plugins/oauth/signing-keys.ts': [{ '= finally': 1 }, AWAITED],
  'plugins/oauth/tokens.ts': [{ '= finally': 2, setTimeout: 1, setInterval: 1, '.catch': 1 }, ANNOUNCED],
  'sessions/last-use.ts': [{ setTimeout: 1, 'void #flush': 1 }, ANNOUNCED],
  'sessions/left-out.ts': [{ '.catch': 1 }, AWAITED],
  'sessions/lookup.ts': [{ setImmediate: 1, 'void #send': 1 }, AWAITED],
  'sessions/tasks.ts': [{ '.catch': 1 }, SYNC],
  'telemetry.ts': [{ 'void catch': 1, 'void push': 1, '.catch': 1 }, 'The exporters belong to the app.'],
  'timers.ts': [{ setTimeout: 1, setImmediate: 1 }, 'They are the timers themselves.'],
  'users/passwords.ts': [{ '.catch': 1 }, 'It only logs that a package is missing.'],
  'users/rows.ts': [{ '= finally': 1 }, AWAITED],
};

test('every place in lib where work continues without its caller announces the work, or has a reason not to', () => {
  const lib = join(import.meta.dirname, '../../lib');
  const found: Record<string, object> = {};
  for (const path of readdirSync(lib, { recursive: true, encoding: 'utf8' })) {
    const file = path.replaceAll('\\', '/');
    // These do not run in the app's requests.
    if (!file.endsWith('.ts') || /^(client|cli|testing|pages\/assets)[/.]/.test(file)) continue;
    const ways = waysIn(readFileSync(join(lib, path), 'utf8'));
    if (Object.keys(ways).length > 0) found[file] = ways;
  }
  expect(found).toEqual(Object.fromEntries(Object.entries(KNOWN).map(([file, [ways]]) => [file, ways])));
});

test.each([
  ['void this.send(mail);', { 'void send': 1 }],
  ['const sending = send().finally(end);', { '= finally': 1 }],
  ['this.sending ??= context.detached(() => send());', { '= detached': 1 }],
  ['send().catch(log);', { '.catch': 1 }],
  ['timers.setTimeout(send, 100);', { setTimeout: 1 }],
  ['await send().catch(log);', {}],
])('finds such places: %s', (source, ways) => {
  expect(waysIn(source)).toEqual(ways);
});
