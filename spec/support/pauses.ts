import { parse } from '@babel/parser';

/** A fixed wait in a source file. */
export interface Pause {
  readonly line: number;
  /** Null if the source does not tell. */
  readonly ms: number | null;
}

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Which argument of a function is the time that it waits, and what counts if it is left out. */
interface Waiting {
  readonly argument: number;
  readonly otherwise: number | null;
}

const TIMER: Waiting = { argument: 1, otherwise: 0 };
const SLEEP: Waiting = { argument: 0, otherwise: 0 };
/** Functions with these names wait, wherever they come from, unless the file itself says what they do. */
const NAMES: readonly (readonly [string, Waiting])[] = [
  ['setTimeout', TIMER],
  ['sleep', SLEEP],
  ['pause', SLEEP],
  ['delay', SLEEP],
];
const IN_SQL = /\b(?:pg_)?sleep\((\d+(?:\.\d+)?)\)/gi;
const IN_PROGRAM = /\bsetTimeout\(\w+, ([\d_]+)\)/g;

/**
 * Finds the waits of a source file that are fixed: timers, functions of the file that start one, timers in the text of
 * a program, and sleeping statements of a database.
 *
 * @param constants of other files
 */
export function pausesIn(source: string, constants: ReadonlyMap<string, number> = new Map()): Pause[] {
  const { program } = parse(source, {
    sourceType: 'module',
    plugins: ['typescript', 'explicitResourceManagement'],
    errorRecovery: true,
  });
  const file = new SourceFile(program as unknown as Node, constants);
  return file.pauses().sort((one, other) => one.line - other.line);
}

/** The numbers that a source file exports by name. */
export function exportedNumbers(source: string): [string, number][] {
  return [...source.matchAll(/^export const (\w+) = ([\d_]+);$/gm)].map(([, name = '', value = '']) => [
    name,
    numberOf(value),
  ]);
}

function numberOf(literal: string): number {
  return Number(literal.replaceAll('_', ''));
}

class SourceFile {
  readonly #waiting = new Map<string, Waiting>(NAMES);
  readonly #numbers: Map<string, number>;
  readonly #calls: { readonly call: Node; readonly within: readonly Node[] }[] = [];
  readonly #texts: { readonly text: string; readonly line: number }[] = [];

  constructor(program: Node, constants: ReadonlyMap<string, number>) {
    this.#numbers = new Map(constants);
    this.#read(program, []);
    // A function that passes its argument to a wait is a wait too.
    for (let known = -1; known < this.#waiting.size; ) {
      known = this.#waiting.size;
      for (const { call, within } of this.#calls) this.#learn(call, within);
    }
  }

  pauses(): Pause[] {
    const waits = this.#calls.flatMap(({ call, within }) => {
      const given = this.#delayOf(call);
      if (given === undefined || this.#passedOn(given, within)) return [];
      return [{ line: lineOf(call), ms: typeof given === 'object' && given ? this.#valueOf(given) : given }];
    });
    const inTexts = this.#texts.flatMap(({ text, line }) => [
      ...[...text.matchAll(IN_SQL)].map(([, seconds]) => ({ line, ms: Number(seconds) * 1000 })),
      ...[...text.matchAll(IN_PROGRAM)].map(([, ms = '']) => ({ line, ms: numberOf(ms) })),
    ]);
    return [...waits, ...inTexts];
  }

  /** Collects what matters: calls with the functions around them, names of timers, numbers and texts. */
  #read(node: Node, within: readonly Node[]): void {
    const { type } = node;
    if (type === 'CallExpression' || type === 'OptionalCallExpression')
      this.#calls.push({ call: node, within });
    if (type === 'StringLiteral') this.#texts.push({ text: String(node.value), line: lineOf(node) });
    if (type === 'TemplateElement')
      this.#texts.push({ text: (node.value as { raw: string }).raw, line: lineOf(node) });
    if (type === 'ImportDeclaration') this.#readImport(node);
    if (type === 'VariableDeclaration')
      for (const one of node.declarations as Node[]) this.#readVariable(one, node.kind === 'const');
    if (type === 'FunctionDeclaration') this.#forget(node.id as Node | null);
    const inner = isFunction(node) ? [...within, node] : within;
    for (const child of childrenOf(node)) {
      // Which gives a function its name.
      const named = type === 'VariableDeclarator' && isFunction(child) ? { ...child, named: node.id } : child;
      this.#read(named, inner);
    }
  }

  #readImport({ source, specifiers }: Node): void {
    if (!/timers\/promises$/.test(String((source as Node).value))) return;
    for (const { imported, local } of specifiers as Node[])
      if (nameOf(imported) === 'setTimeout') this.#waiting.set(nameOf(local), SLEEP);
  }

  #readVariable({ id, init }: Node, isConstant: boolean): void {
    if (!init) return;
    const pattern = id as Node;
    if (pattern.type === 'ObjectPattern') {
      for (const { key, value } of pattern.properties as Node[])
        if (nameOf(key) === 'setTimeout') this.#waiting.set(nameOf(value), TIMER);
      return;
    }
    const value = isConstant ? this.#valueOf(init as Node) : null;
    if (value !== null) this.#numbers.set(nameOf(pattern), value);
    if (isFunction(init as Node)) this.#forget(pattern);
  }

  /** A function of the file has this name. What it does is learned from its calls. */
  #forget(id: Node | null): void {
    this.#waiting.delete(nameOf(id));
  }

  #learn(call: Node, within: readonly Node[]): void {
    const given = this.#delayOf(call);
    const found = typeof given === 'object' && given ? this.#passedOn(given, within) : null;
    if (found && !this.#waiting.has(found.name)) this.#waiting.set(found.name, found.waiting);
  }

  /** The time that a call waits, as it is written. Undefined if the call is not a wait. */
  #delayOf({ callee, arguments: given }: Node): Node | number | null | undefined {
    const { type, object, property } = callee as Node;
    const isMember = /MemberExpression$/.test(type);
    const name = nameOf(isMember ? property : callee);
    // It sets how long a test may take.
    if (isMember && nameOf(object) === 'jest') return undefined;
    const waiting = this.#waiting.get(name);
    if (!waiting) return undefined;
    return (given as Node[])[waiting.argument] ?? waiting.otherwise;
  }

  /** The named function around a wait whose parameter is the time to wait. */
  #passedOn(given: Node | number | null, within: readonly Node[]) {
    if (typeof given !== 'object' || given?.type !== 'Identifier') return null;
    for (const around of [...within].reverse()) {
      const parameters = around.params as Node[];
      const names = parameters.map((one) => nameOf(one.type === 'AssignmentPattern' ? one.left : one));
      const argument = names.indexOf(nameOf(given));
      if (argument < 0) continue;
      const name = nameOf(around.named ?? around.id ?? around.key);
      if (!name) return null;
      const parameter = parameters[argument] as Node;
      const otherwise =
        parameter.type === 'AssignmentPattern' ? this.#valueOf(parameter.right as Node) : null;
      return { name, waiting: { argument, otherwise } };
    }
    return null;
  }

  #valueOf(node: Node): number | null {
    if (node.type === 'NumericLiteral') return node.value as number;
    if (node.type === 'Identifier') return this.#numbers.get(nameOf(node)) ?? null;
    if (node.type !== 'BinaryExpression') return null;
    const left = this.#valueOf(node.left as Node);
    const right = this.#valueOf(node.right as Node);
    if (left === null || right === null) return null;
    if (node.operator === '+') return left + right;
    if (node.operator === '-') return left - right;
    if (node.operator === '*') return left * right;
    return node.operator === '/' ? left / right : null;
  }
}

function nameOf(node: unknown): string {
  const { type, name, id, value } = (node ?? {}) as Node;
  if (type === 'PrivateName') return nameOf(id);
  return typeof name === 'string' ? name : typeof value === 'string' ? value : '';
}

function lineOf(node: Node): number {
  return (node.loc as { start: { line: number } }).start.line;
}

function isFunction({ type }: Node): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ObjectMethod|Class(Private)?Method)$/.test(
    type,
  );
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((child): child is Node => typeof (child as Node | null)?.type === 'string');
}
