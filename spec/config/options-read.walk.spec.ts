import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  isBindingElement,
  isCallExpression,
  isIdentifier,
  isInterfaceDeclaration,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isSpreadAssignment,
  isVariableDeclaration,
  type Node,
} from 'typescript/unstable/ast';
import { API, type Project } from 'typescript/unstable/sync';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Options that are passed on together, and the interface as which they are read. */
const PASSED_ON: Readonly<Record<string, string>> = {
  EmailOptions: 'MailSettings',
  CredentialPasswordOptions: 'PasswordSettings',
  PasswordRuleOptions: 'PasswordRuleSettings',
  Argon2Options: 'Argon2Parameters',
  Endpoints: 'OAuth2Server',
};

interface Option {
  /** The interface of the options, and the name of this one. */
  readonly owner: string;
  readonly name: string;
  /** The option in its schema. */
  readonly property: Node;
  /** The declaration of the schema, which reads the option only to validate it. */
  readonly schema: Node;
}

let api: API;
let project: Project;
const options: Option[] = [];
const interfaces = new Map<
  string,
  { readonly members: readonly Node[]; readonly parents: readonly string[] }[]
>();
/** The options that several schemas have, by the name of the constant. */
const shapes = new Map<string, Node>();

beforeAll(() => {
  api = new API({ cwd: root });
  [project] = api.updateSnapshot({ openProject: `${root}tsconfig.esm.json` }).getProjects() as [Project];
  const files = project.program.getSourceFileNames().filter((name) => name.startsWith(`${root}lib/`));
  const sources = files.map((name) => project.program.getSourceFile(name) as unknown as Node);
  for (const source of sources) walk(source, findDeclarations);
  for (const source of sources) walk(source, findOptions);
});
afterAll(() => api.close());

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
}

function findDeclarations(node: Node): void {
  if (isInterfaceDeclaration(node)) {
    const members = node.members.flatMap((member) => (member as { name?: Node }).name ?? []);
    const parents = (node.heritageClauses ?? []).flatMap((clause) => clause.getText().match(/\w+/g) ?? []);
    const { text } = node.name;
    interfaces.set(text, [...(interfaces.get(text) ?? []), { members, parents }]);
  }
  if (isVariableDeclaration(node) && /(Shape|Options)$/.test(node.name.getText()) && node.initializer)
    shapes.set(node.name.getText(), node.initializer);
}

/** Finds `schemaOf<Options>()(shape)`. */
function findOptions(node: Node): void {
  if (!isCallExpression(node) || !isCallExpression(node.expression)) return;
  const { expression: callee, typeArguments: [owner] = [] } = node.expression;
  const [shape] = node.arguments;
  if (!isIdentifier(callee) || callee.text !== 'schemaOf' || !owner || !shape) return;
  let schema: Node = node;
  while (!isVariableDeclaration(schema)) schema = schema.parent;
  for (const property of namesIn(shape))
    options.push({ owner: owner.getText(), name: property.getText(), property, schema });
}

function namesIn(shape: Node): Node[] {
  if (isObjectLiteralExpression(shape))
    return shape.properties.flatMap((one) =>
      isSpreadAssignment(one) ? namesIn(one.expression) : (one.name ?? []),
    );
  const shared = shapes.get(shape.getText());
  return shared ? namesIn(shared) : [];
}

/** Finds an option in its interface, in those that this one extends, and in those as which options are passed on. */
function declarationsOf(owner: string, name: string): Node[] {
  return (interfaces.get(owner) ?? []).flatMap(({ members, parents }) => [
    ...members.filter((member) => member.getText() === name),
    ...[...parents, PASSED_ON[owner] ?? ''].flatMap((parent) => declarationsOf(parent, name)),
  ]);
}

const reads = new Map<Node, readonly Node[]>();

/** Finds where the value of a property is read. */
function readsOf(declaration: Node): readonly Node[] {
  const found =
    reads.get(declaration) ??
    project.checker
      .getReferencedSymbolsForNode(declaration, declaration.getStart())
      .flatMap(({ references }) => references.map((reference) => reference.resolve(project) as Node))
      .filter(isRead);
  reads.set(declaration, found);
  return found;
}

function isRead(node: Node): boolean {
  const { parent } = node;
  if (isPropertyAccessExpression(parent)) return parent.name === node;
  return isBindingElement(parent) && (parent.propertyName ?? parent.name) === node;
}

function isWithin(node: Node, outer: Node): boolean {
  return node === outer || (node.parent !== undefined && isWithin(node.parent, outer));
}

test('the options of every schema are found', () => {
  const names = options.map(({ owner, name }) => `${owner}.${name}`);
  expect(names.length).toBeGreaterThan(200);
  for (const name of [
    'AuthConfig.session',
    'SessionOptions.lifetime',
    'PagesOptions.own',
    'GithubOptions.callbackPath',
  ])
    expect(names).toContain(name);
  for (const passedOn of Object.entries(PASSED_ON).flat()) expect([...interfaces.keys()]).toContain(passedOn);
});

test('every option is read outside of its schema', () => {
  const unread = options.filter(
    ({ owner, name, property, schema }) =>
      ![property, ...declarationsOf(owner, name)].some((declaration) =>
        readsOf(declaration).some((read) => !isWithin(read, schema)),
      ),
  );
  expect(unread.map(({ owner, name }) => `${owner}.${name}`)).toEqual([]);
});
