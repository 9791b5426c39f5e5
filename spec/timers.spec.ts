import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@babel/parser';
import { describe, expect, test } from '@jest/globals';

/** What fake timers replace. `timers.ts` has what to use instead. */
const FAKED = new Set([
  ...['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'],
  ...['queueMicrotask', 'performance'],
]);
const MODULES = /^(node:)?(timers(\/promises)?|perf_hooks)$/;

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** The uses of functions that fake timers replace, and of signals that garbage collection can lose. */
function faultsIn(source: string): string[] {
  const { program } = parse(source, { sourceType: 'module', plugins: ['typescript'] });
  const imported = new Set<string>();
  const faults: string[] = [];
  const visit = (node: Node, parent: Node | null) => {
    const { type } = node;
    if (type === 'ImportDeclaration') {
      const from = String((node.source as Node).value);
      if (MODULES.test(from)) faults.push(from);
      for (const { local } of node.specifiers as Node[]) imported.add(nameOf(local));
      return;
    }
    if (type === 'MemberExpression' || type === 'OptionalMemberExpression') {
      const [object, property] = [nameOf(node.object), nameOf(node.property)];
      if (object === 'AbortSignal' && (property === 'any' || property === 'timeout'))
        faults.push(`AbortSignal.${property}`);
      if (object === 'process' && (property === 'nextTick' || property === 'hrtime'))
        faults.push(`process.${property}`);
      if ((object === 'globalThis' || object === 'global') && FAKED.has(property)) faults.push(property);
    }
    const isMember = /Member/.test(parent?.type ?? '') && parent?.property === node && !parent.computed;
    const isKey = /Property|Method|Signature/.test(parent?.type ?? '') && parent?.key === node;
    const name = type === 'Identifier' ? nameOf(node) : '';
    if (!isMember && !isKey && FAKED.has(name) && !imported.has(name)) faults.push(name);
    for (const child of Object.values(node).flat())
      if (typeof (child as Node | null)?.type === 'string') visit(child as Node, node);
  };
  visit(program as unknown as Node, null);
  return faults;
}

function nameOf(node: unknown): string {
  const { type, name, value } = node as Node;
  if (type === 'Identifier') return String(name);
  return type === 'StringLiteral' ? String(value) : '';
}

test('code that runs on a server takes timers from timers.ts, and deadlines of requests from deadline.ts', () => {
  const lib = join(import.meta.dirname, '../lib');
  const paths = readdirSync(lib, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    // Browsers and phones have no `node:timers`.
    .filter((path) => path.endsWith('.ts') && !/^client\/|^(timers|client|react)\.ts$/.test(path));
  expect(paths.length).toBeGreaterThan(300);
  const faults = paths.map((path) => [path, faultsIn(readFileSync(join(lib, path), 'utf8'))] as const);
  expect(faults.filter(([, found]) => found.length > 0)).toEqual([]);
  // It has looked at what is allowed.
  const users = paths.filter((path) => readFileSync(join(lib, path), 'utf8').includes('/timers.js'));
  expect(users.length).toBeGreaterThan(20);
});

describe('a fault is found', () => {
  test.each<[string, string[]]>([
    ['setTimeout(done, 5);', ['setTimeout']],
    ['await new Promise(setImmediate);', ['setImmediate']],
    ['const { now = performance.now() } = {};', ['performance']],
    ['globalThis.setInterval(work, 5);', ['setInterval']],
    ['globalThis["queueMicrotask"](work);', ['queueMicrotask']],
    ['process.nextTick(work);', ['process.nextTick']],
    ["import { setTimeout as sleep } from 'node:timers/promises';", ['node:timers/promises']],
    ["import timers from 'timers';", ['timers']],
    [
      'fetch(url, { signal: AbortSignal.any([AbortSignal.timeout(5)]) });',
      ['AbortSignal.any', 'AbortSignal.timeout'],
    ],
    ['const parts = { setTimeout };', ['setTimeout']],
    [
      "import { performance, timers } from '../timers.js'; performance.now(); timers.setTimeout(done, 5);",
      [],
    ],
    ['socket.setTimeout(5); const held = { setTimeout: 5 };', []],
  ])('in %s', (source, faults) => {
    expect(faultsIn(source).sort()).toEqual(faults);
  });
});
