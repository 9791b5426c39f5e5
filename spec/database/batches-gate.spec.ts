import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@babel/parser';
import { expect, test } from '@jest/globals';

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

const USES_HELPER = /\b(inTurns|slicesOf|readBatches)[<(]/;

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((child): child is Node => typeof (child as Node | null)?.type === 'string');
}

const has = (node: Node, is: (one: Node) => boolean): boolean =>
  is(node) || childrenOf(node).some((child) => has(child, is));

/** The loops of a file that wait or that go through slices, and its statements that read a limited number of rows. */
function loopsIn(source: string): Readonly<Record<string, number>> {
  const { program } = parse(source, { sourceType: 'module', plugins: ['typescript'] });
  const found: Record<string, number> = {};
  const add = (kind: string) => {
    found[kind] = (found[kind] ?? 0) + 1;
  };
  const visit = (node: Node) => {
    if (/^(For|While|DoWhile)Statement$/.test(node.type)) {
      const waits = has(node, ({ type }) => type === 'AwaitExpression' || type === 'YieldExpression');
      if (waits || (node.update as Node | null)?.type === 'AssignmentExpression') add('loop');
    }
    if (node.type === 'TemplateElement' && /\bLIMIT $/.test((node.value as { raw: string }).raw))
      add('limit');
    for (const child of childrenOf(node)) visit(child);
  };
  visit(program as unknown as Node);
  return found;
}

const PAGE = 'It reads one page, or at most a few rows.';
const ATTEMPTS = 'Each round is another attempt at the same work.';
const HELPER = 'Its batches go through `database/batches.ts`.';

/** Why these loops do not go through many rows without letting the process do other work. */
const KNOWN: Readonly<Record<string, readonly [found: Readonly<Record<string, number>>, why: string]>> = {
  'accounts/deletion.ts': [{ limit: 1 }, HELPER],
  'accounts/export.ts': [{ limit: 1 }, HELPER],
  'accounts/list.ts': [
    { limit: 3, loop: 1 },
    'A search stops after a second. Each of its steps is one statement.',
  ],
  'crypto/failure-work.ts': [{ loop: 1 }, 'It has no rows.'],
  'database/app-transaction.ts': [{ loop: 2 }, 'It has no rows.'],
  'database/batches.ts': [{ loop: 2 }, 'It is the helper.'],
  'database/chores.ts': [{ limit: 1, loop: 2 }, 'It pauses after each part.'],
  'database/faults.ts': [{ loop: 1 }, ATTEMPTS],
  'database/side-connections.ts': [{ loop: 1 }, ATTEMPTS],
  'database/turn.ts': [{ loop: 1 }, ATTEMPTS],
  'limits/sql-store.ts': [{ loop: 2 }, ATTEMPTS],
  'migrations/carry-out.ts': [
    { limit: 1, loop: 1 },
    'It pauses after each part, because it uses `inBatches`.',
  ],
  'migrations/lock.ts': [{ loop: 2 }, ATTEMPTS],
  'migrations/migrate.ts': [{ loop: 2 }, 'Each round is a migration or a column.'],
  'moving-in/accounts-of-rows.ts': [{ loop: 1 }, ATTEMPTS],
  'moving-in/import-organizations.ts': [{ loop: 1 }, ATTEMPTS],
  'moving-in/import.ts': [{ loop: 2 }, HELPER],
  'moving-in/imported-rows.ts': [{ limit: 1 }, HELPER],
  'moving-in/systems/better-auth.ts': [{ loop: 1 }, 'It has no rows.'],
  'moving-in/systems/previous-tables.ts': [{ limit: 1 }, HELPER],
  'notices/changes.ts': [
    { limit: 2 },
    'One is a page. The other pauses after each part, because it uses `inBatches`.',
  ],
  'outbox/lane.ts': [{ loop: 1 }, 'It only waits.'],
  'outbox/outbox.ts': [
    { loop: 3 },
    'One is another attempt at the same work. The others send held emails, and wait for each of them.',
  ],
  'outbox/rows.ts': [
    { limit: 3 },
    'One is a page. The batches of the others go through `database/batches.ts`, or are sent one by one.',
  ],
  'outbox/webhooks.ts': [{ loop: 1 }, 'It only waits.'],
  'pages/theme.ts': [{ loop: 1 }, 'It has no rows.'],
  'plugins/audit-log/api.ts': [{ limit: 1, loop: 1 }, HELPER],
  'plugins/oauth/tokens.ts': [{ loop: 3 }, ATTEMPTS],
  'plugins/organizations/invitations.ts': [{ limit: 3 }, PAGE],
  'plugins/organizations/rows.ts': [{ limit: 4 }, PAGE],
  'sessions/device-rows.ts': [
    { limit: 4 },
    'One pauses after each part, because it uses `inBatches`. The others are pages.',
  ],
  'sessions/last-use.ts': [{ limit: 1, loop: 1 }, HELPER],
  'sessions/password-check.ts': [{ loop: 1 }, ATTEMPTS],
  'sessions/recent-browsers.ts': [{ limit: 1 }, PAGE],
  'sessions/sessions.ts': [{ limit: 1 }, HELPER],
  'tables/sealed-rows.ts': [{ limit: 1 }, HELPER],
  'users/users.ts': [{ limit: 1 }, PAGE],
};

const lib = join(import.meta.dirname, '../../lib');
const sources = readdirSync(lib, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  // The others do not run in the process of the app.
  .filter((path) => path.endsWith('.ts') && !/^(client|cli|testing|pages\/assets)[/.]/.test(path))
  .map((path) => [path, readFileSync(join(lib, path), 'utf8')] as const);

test('every loop in lib lets the process do other work between batches of rows, or has a reason not to', () => {
  const found = sources.flatMap(([path, source]) => {
    const loops = loopsIn(source);
    return Object.keys(loops).length > 0 ? [[path, loops]] : [];
  });
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(KNOWN).map(([path, [loops]]) => [path, loops])),
  );
  const withHelper = sources.filter(([, source]) => USES_HELPER.test(source)).map(([path]) => path);
  const claims = Object.entries(KNOWN).filter(([, [, why]]) => why === HELPER);
  expect(withHelper).toEqual(expect.arrayContaining(claims.map(([path]) => path)));
});

test.each([
  ['for (let at = 0; at < rows.length; at += 500) write(rows.slice(at, at + 500));', { loop: 1 }],
  ['async () => { while (more) await next(); }', { loop: 1 }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: It is the source of a file.
  ['read(`SELECT * FROM users ORDER BY id LIMIT ${BATCH}`);', { limit: 1 }],
  ['for (const row of rows) write(row);', {}],
])('finds such loops: %s', (source, loops) => {
  expect(loopsIn(source)).toEqual(loops);
});
