// The module hook of walks.mjs: it wraps the body of each function in lib in a call of `globalThis.entered`.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync, transformSync } from '@swc/core';

const lib = new URL('../lib/', import.meta.url).href;
const language = { syntax: 'typescript' };
const target = 'es2022';

const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassMethod',
  'PrivateMethod',
  'MethodProperty',
  'GetterProperty',
  'SetterProperty',
  'Constructor',
]);

export function load(url, context, nextLoad) {
  if (!url.startsWith(lib) || !url.endsWith('.ts')) return nextLoad(url, context);
  const file = url.slice(lib.length, -'.ts'.length);
  const source = traced(readFileSync(fileURLToPath(url), 'utf8'), file);
  const { code } = transformSync(source, { filename: url, jsc: { parser: language, target } });
  return { format: 'module', source: code, shortCircuit: true };
}

/** The source, in which each function tells that it is entered. */
function traced(source, file) {
  // Positions are in bytes, and count on from those of the file before. The first statement tells where they start.
  const bytes = Buffer.from(`;${source}`);
  const { body: statements } = parseSync(bytes.toString(), { ...language, target });
  const offset = statements[0].span.start;
  const insertions = [];
  const insert = (position, text) => insertions.push({ position, text });

  function visit(node, name) {
    if (typeof node !== 'object' || node === null) return;
    const own = nameOf(node) ?? name;
    const isDerived = Boolean(node.superClass);
    const { body, async, generator } = node.function ?? node;
    if (!FUNCTIONS.has(node.type) || !body) {
      for (const child of Object.values(node)) {
        if (isDerived && Array.isArray(child)) for (const member of child) visitMember(member, own);
        else visit(child, own);
      }
      return;
    }
    const [start, end] = [body.span.start - offset, body.span.end - offset];
    const call = `globalThis.entered(${JSON.stringify(file)}, ${JSON.stringify(own)}, ${async ? 'async ' : ''}() => `;
    // What yields or calls `super` cannot be in another function, so it only tells that it was entered.
    const [before, after] = generator || node.callsSuper ? [`${call}{});`, ''] : [`return ${call}{`, '});'];
    const isExpression = bytes[start] !== '{'.charCodeAt(0);
    if (isExpression) insert(start, call);
    else insert(start + 1, before);
    for (const child of Object.values(node)) visit(child, own);
    if (isExpression) insert(end, ')');
    else insert(end - 1, after);
  }

  function visitMember(member, name) {
    visit(member?.type === 'Constructor' ? { ...member, callsSuper: true } : member, name);
  }

  visit(statements, '');
  let [text, done] = ['', 0];
  for (const { position, text: inserted } of insertions.sort((a, b) => a.position - b.position)) {
    text += bytes.subarray(done, position) + inserted;
    done = position;
  }
  return text + bytes.subarray(done);
}

/** The name that a node gives to the functions in it. */
function nameOf({ type, key, identifier, id }) {
  if (type === 'Constructor') return 'constructor';
  return (key ?? identifier ?? (type === 'VariableDeclarator' ? id : undefined))?.value;
}
